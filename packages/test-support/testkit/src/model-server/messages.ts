import { argumentsOf, DEFAULT_USAGE, frame, pieces, reasonOf, type ServedReply, type Teller } from './reply.ts'

const WORDS = { stop: 'end_turn', 'tool-calls': 'tool_use', length: 'max_tokens', filter: 'refusal' }

/** Anthropic Messages. A seal without reasoning is redacted thinking. */
export const messages: Teller = (reply) => {
  const { input, output, cacheRead = 0 } = reply.usage ?? DEFAULT_USAGE
  const reason = reasonOf(reply, WORDS)
  const usage = { input_tokens: input - cacheRead, cache_read_input_tokens: cacheRead, output_tokens: 1 }
  return [
    event('message_start', { message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'scripted', content: [], usage } }),
    ...blocksOf(reply).flatMap(({ block, deltas }, index) => [
      event('content_block_start', { index, content_block: block }),
      ...deltas.map((delta) => event('content_block_delta', { index, delta })),
      event('content_block_stop', { index }),
    ]),
    ...(reason === undefined ? [] : [event('message_delta', { delta: { stop_reason: reason }, usage: { output_tokens: output } })]),
    event('message_stop', {}),
  ]
}

interface Block {
  readonly block: object
  readonly deltas: readonly object[]
}

function blocksOf({ reasoning, seal, text, calls = [] }: ServedReply): Block[] {
  return [
    ...(reasoning === undefined ? redacted(seal) : [thinking(reasoning, seal)]),
    ...(text === undefined
      ? []
      : [{ block: { type: 'text', text: '' }, deltas: pieces(text).map((piece) => ({ type: 'text_delta', text: piece })) }]),
    ...calls.map((call, index) => ({
      block: { type: 'tool_use', id: call.id ?? `call_${index + 1}`, name: call.name, input: {} },
      deltas: pieces(argumentsOf(call)).map((piece) => ({ type: 'input_json_delta', partial_json: piece })),
    })),
  ]
}

function thinking(text: string, seal: string | undefined): Block {
  const deltas = pieces(text).map((piece) => ({ type: 'thinking_delta', thinking: piece }))
  return {
    block: { type: 'thinking', thinking: '', signature: '' },
    deltas: [...deltas, ...(seal === undefined ? [] : [{ type: 'signature_delta', signature: seal }])],
  }
}

function redacted(seal: string | undefined): Block[] {
  return seal === undefined ? [] : [{ block: { type: 'redacted_thinking', data: seal }, deltas: [] }]
}

function event(type: string, data: object): string {
  return frame({ type, ...data }, type)
}
