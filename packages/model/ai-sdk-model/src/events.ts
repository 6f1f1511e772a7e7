import type { LlmError } from '@loopguard/llm'
import type { Failures } from './failure.ts'
import { parsed } from './read-error.ts'

/** How the events of a stream look that a kind of provider sends; `other` when that is not known. */
export type EventShape = 'chat' | 'messages' | 'other'

const END_OF_EVENT = /\n\n|\r\r|\r\n\r\n/g
/** Where the content of an answer stands, in events of any shape. */
const CONTENT = ['choices', 'delta', 'content_block', 'message', 'candidates', 'response', 'item']
const MESSAGE_STOP = 'event: message_stop\ndata: {"type":"message_stop"}\n\n'
const KNOWN: Readonly<Record<EventShape, RegExp>> = {
  chat: /"choices"/,
  messages: /"type"\s*:\s*"(?:ping|message_start|message_delta|message_stop|content_block_start|content_block_delta|content_block_stop)"/,
  other: /^/,
}

/**
 * The events of one stream on their way to a provider package. It lets pass, byte for byte, what the package may read. It finds the
 * errors among them, in shapes that the package may not know, and drops events of unknown kinds that carry nothing of the answer:
 * the packages lose the finish reason over one.
 */
export class Events {
  private readonly shape: EventShape
  private readonly failures: Failures
  /** Bytes of an event that has not ended, a character each. */
  private pending = ''
  private hasReason = false
  private hasStopped = false

  constructor(shape: EventShape, failures: Failures) {
    this.shape = shape
    this.failures = failures
  }

  /** What of these bytes, and of those that were held back, can go on. @throws LlmError for an error among the events. */
  take(bytes: Uint8Array): Uint8Array {
    const before = Math.max(0, this.pending.length - 3)
    this.pending += Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
    let passed = ''
    let start = 0
    END_OF_EVENT.lastIndex = before
    for (let end = END_OF_EVENT.exec(this.pending); end !== null; end = END_OF_EVENT.exec(this.pending)) {
      const event = this.pending.slice(start, END_OF_EVENT.lastIndex)
      start = END_OF_EVENT.lastIndex
      if (this.passes(event)) passed += event
    }
    this.pending = this.pending.slice(start)
    return Buffer.from(passed, 'latin1')
  }

  /** What is left when the stream has ended. A reason is an end, though a package may wait for more. */
  rest(): Uint8Array {
    const isOver = this.hasReason && !this.hasStopped
    return Buffer.from(isOver ? MESSAGE_STOP : this.pending, 'latin1')
  }

  private passes(event: string): boolean {
    if (this.shape === 'messages') {
      this.hasReason ||= /"stop_reason"\s*:\s*"/.test(event)
      this.hasStopped ||= /"type"\s*:\s*"message_stop"/.test(event)
    }
    // Inside of a JSON text the quotes would be escaped.
    const mayFail = event.includes('"error"')
    const isKnown = KNOWN[this.shape].test(event)
    if (isKnown && !mayFail) return true
    const data = dataOf(event)
    if (data === undefined) return true
    const failure = this.errorIn(data)
    if (failure !== undefined) throw failure
    return isKnown || CONTENT.some((key) => key in data)
  }

  private errorIn(data: Readonly<Record<string, unknown>>): LlmError | undefined {
    const { type, error, response } = data
    if (error !== undefined && error !== null) return this.failures.inBand(data)
    if (type === 'error') return this.failures.inBand(data)
    const failed = (response as { readonly error?: unknown } | null | undefined)?.error
    return type === 'response.failed' && failed !== undefined ? this.failures.inBand(data) : undefined
  }
}

/** The object that an event carries; `undefined` for anything else, which is the package's to judge. */
function dataOf(event: string): Readonly<Record<string, unknown>> | undefined {
  const text = Buffer.from(event, 'latin1')
    .toString('utf8')
    .split(/\r\n|\r|\n/)
    .flatMap((line) => (line.startsWith('data:') ? [line.slice('data:'.length)] : []))
    .join('\n')
  return parsed(text)
}
