/** What a scripted server says, in no provider's words: it is told in the dialect that the request asks for. */
export interface ServedReply {
  readonly reasoning?: string
  /** Goes with the reasoning, and must come back: a signature, an encrypted content, a thought signature. */
  readonly seal?: string
  readonly text?: string
  readonly calls?: readonly ServedCall[]
  /** Default: `tool-calls` when there are calls, else `stop`. `none` sends no reason; any other text is sent as it is. */
  readonly finish?: 'stop' | 'tool-calls' | 'length' | 'filter' | 'none' | { readonly raw: string }
  readonly usage?: ServedUsage
}

export interface ServedCall {
  readonly name: string
  /** Text is sent as it is, also when it is no JSON. */
  readonly arguments: unknown
  /** Default: `call_1`, `call_2`, … */
  readonly id?: string
}

export interface ServedUsage {
  /** The total, what came from the cache included. */
  readonly input: number
  readonly output: number
  readonly cacheRead?: number
  readonly reasoning?: number
}

/** The protocols that the server speaks; the path of a request says which. */
export type Dialect = 'chat' | 'messages' | 'responses' | 'google'

/** How a dialect tells a reply: the frames of its event stream, in order. */
export type Teller = (reply: ServedReply) => string[]

/** Text in pieces of a few characters, as models send it. */
export function pieces(text: string, size = 8): string[] {
  return Array.from({ length: Math.ceil(text.length / size) }, (_, index) => text.slice(index * size, (index + 1) * size))
}

/** The raw text of a call's arguments. */
export function argumentsOf(call: ServedCall): string {
  return typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments)
}

/** The reason to send, in the words of a dialect; `undefined` for none. */
export function reasonOf(
  reply: ServedReply,
  words: Readonly<Record<'stop' | 'tool-calls' | 'length' | 'filter', string>>,
): string | undefined {
  const finish = reply.finish ?? ((reply.calls ?? []).length > 0 ? 'tool-calls' : 'stop')
  if (typeof finish === 'object') return finish.raw
  return finish === 'none' ? undefined : words[finish]
}

export const DEFAULT_USAGE: ServedUsage = { input: 100, output: 20 }

/** One event of a stream. */
export function frame(data: unknown, event?: string): string {
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`
}
