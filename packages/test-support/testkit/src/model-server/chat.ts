import { argumentsOf, DEFAULT_USAGE, frame, pieces, reasonOf, type ServedReply, type Teller } from './reply.ts'

const WORDS = { stop: 'stop', 'tool-calls': 'tool_calls', length: 'length', filter: 'content_filter' }

/** Chat completions. The seal of a reply has no place here, and is left out. */
export const chat: Teller = (reply) => {
  const reason = reasonOf(reply, WORDS)
  return [
    ...pieces(reply.reasoning ?? '').map((piece) => chunk({ reasoning_content: piece })),
    ...pieces(reply.text ?? '').map((piece) => chunk({ role: 'assistant', content: piece })),
    ...callFrames(reply),
    ...(reason === undefined ? [] : [chunk({}, reason)]),
    usageFrame(reply),
    frame('[DONE]'),
  ]
}

function callFrames({ calls = [] }: ServedReply): string[] {
  return calls.flatMap((call, index) => {
    const id = call.id ?? `call_${index + 1}`
    const rest = pieces(argumentsOf(call)).map((piece) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] }))
    return [chunk({ tool_calls: [{ index, id, type: 'function', function: { name: call.name, arguments: '' } }] }), ...rest]
  })
}

function usageFrame({ usage = DEFAULT_USAGE }: ServedReply): string {
  const { input, output, cacheRead, reasoning } = usage
  return envelope([], {
    usage: {
      prompt_tokens: input,
      completion_tokens: output,
      total_tokens: input + output,
      ...(cacheRead !== undefined && { prompt_tokens_details: { cached_tokens: cacheRead } }),
      ...(reasoning !== undefined && { completion_tokens_details: { reasoning_tokens: reasoning } }),
    },
  })
}

function chunk(delta: object, reason: string | null = null): string {
  return envelope([{ index: 0, delta, finish_reason: reason }])
}

function envelope(choices: readonly object[], more: object = {}): string {
  return frame({ id: 'chat-1', object: 'chat.completion.chunk', created: 1, model: 'scripted', choices, ...more })
}
