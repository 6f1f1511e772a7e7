import { argumentsOf, DEFAULT_USAGE, frame, pieces, reasonOf, type ServedReply, type Teller } from './reply.ts'

const WORDS = { stop: 'STOP', 'tool-calls': 'STOP', length: 'MAX_TOKENS', filter: 'SAFETY' }

/** Google's streamGenerateContent: as much as a round trip needs. The seal goes with the first call, or else with the text. */
export const google: Teller = (reply) => {
  const { reasoning = '', seal, text = '', calls = [] } = reply
  const sealed = seal === undefined ? {} : { thoughtSignature: seal }
  return [
    ...pieces(reasoning).map((piece) => candidate([{ text: piece, thought: true }])),
    ...pieces(text).map((piece, index) => candidate([{ text: piece, ...(index === 0 && calls.length === 0 && sealed) }])),
    ...calls.map((call, index) =>
      candidate([{ functionCall: { name: call.name, args: JSON.parse(argumentsOf(call)) as unknown }, ...(index === 0 && sealed) }]),
    ),
    ending(reply),
  ]
}

function candidate(parts: readonly object[], more: object = {}): string {
  return frame({ candidates: [{ index: 0, content: { role: 'model', parts }, ...more }] })
}

function ending(reply: ServedReply): string {
  const { input, output, cacheRead, reasoning = 0 } = reply.usage ?? DEFAULT_USAGE
  const reason = reasonOf(reply, WORDS)
  return frame({
    candidates: [{ index: 0, content: { role: 'model', parts: [] }, ...(reason !== undefined && { finishReason: reason }) }],
    usageMetadata: {
      promptTokenCount: input,
      candidatesTokenCount: output - reasoning,
      totalTokenCount: input + output,
      thoughtsTokenCount: reasoning,
      ...(cacheRead !== undefined && { cachedContentTokenCount: cacheRead }),
    },
  })
}
