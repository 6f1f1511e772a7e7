import { argumentsOf, DEFAULT_USAGE, frame, pieces, reasonOf, type ServedReply, type Teller } from './reply.ts'

const WORDS = { stop: 'completed', 'tool-calls': 'completed', length: 'max_output_tokens', filter: 'content_filter' }

/** OpenAI Responses: as much as a round trip needs. */
export const responses: Teller = (reply) => {
  const reason = reasonOf(reply, WORDS)
  return [
    frame({ type: 'response.created', response: { id: 'resp_1', created_at: 1, model: 'scripted' } }),
    ...itemsOf(reply).flatMap(({ added, done, deltas }, output_index) => [
      frame({ type: 'response.output_item.added', output_index, item: added }),
      ...deltas.map((delta) => frame({ output_index, ...delta })),
      frame({ type: 'response.output_item.done', output_index, item: done }),
    ]),
    ...(reason === undefined ? [] : [ending(reply, reason)]),
  ]
}

interface Item {
  readonly added: object
  readonly done: object
  readonly deltas: readonly object[]
}

function itemsOf(reply: ServedReply): Item[] {
  const { reasoning, seal, text, calls = [] } = reply
  return [
    ...(reasoning === undefined && seal === undefined ? [] : [reasoningItem(reasoning ?? '', seal)]),
    ...(text === undefined ? [] : [messageItem(text)]),
    ...calls.map((call, index) => {
      const item = { type: 'function_call', id: `fc_${index + 1}`, call_id: call.id ?? `call_${index + 1}`, name: call.name }
      const whole = argumentsOf(call)
      return {
        added: { ...item, arguments: '' },
        done: { ...item, arguments: whole, status: 'completed' },
        deltas: pieces(whole).map((delta) => ({ type: 'response.function_call_arguments.delta', item_id: item.id, delta })),
      }
    }),
  ]
}

function reasoningItem(text: string, seal: string | undefined): Item {
  const item = { type: 'reasoning', id: 'rs_1' }
  const summary = { item_id: item.id, summary_index: 0 }
  return {
    added: { ...item, encrypted_content: null, summary: [] },
    done: { ...item, encrypted_content: seal ?? null, summary: text === '' ? [] : [{ type: 'summary_text', text }] },
    deltas: [
      ...(text === '' ? [] : [{ type: 'response.reasoning_summary_part.added', ...summary }]),
      ...pieces(text).map((delta) => ({ type: 'response.reasoning_summary_text.delta', ...summary, delta })),
      ...(text === '' ? [] : [{ type: 'response.reasoning_summary_part.done', ...summary }]),
    ],
  }
}

function messageItem(text: string): Item {
  const item = { type: 'message', id: 'msg_1' }
  return {
    added: item,
    done: item,
    deltas: pieces(text).map((delta) => ({ type: 'response.output_text.delta', item_id: item.id, content_index: 0, delta })),
  }
}

function ending({ usage = DEFAULT_USAGE }: ServedReply, reason: string): string {
  const { input, output, cacheRead, reasoning } = usage
  const type = reason === 'completed' ? 'response.completed' : 'response.incomplete'
  return frame({
    type,
    response: {
      incomplete_details: reason === 'completed' ? null : { reason },
      usage: {
        input_tokens: input,
        output_tokens: output,
        ...(cacheRead !== undefined && { input_tokens_details: { cached_tokens: cacheRead } }),
        ...(reasoning !== undefined && { output_tokens_details: { reasoning_tokens: reasoning } }),
      },
    },
  })
}
