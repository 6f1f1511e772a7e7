import { HarnessError, parseSnapshot } from '@loopguard/kit'
import { type SessionEvent, type SessionEventMap, SESSION_VERSION } from './events.ts'
import { faultOfEvent } from './event-shape.ts'

/** How deep the data of one line may nest. Newer engines write any depth, but other readers of JSON do not read it. */
const MAX_DEPTH = 1_000

/**
 * One event as one line. The line break at its end is what commits it: a line without one was torn.
 * @throws HarnessError `SESSION_EVENT_TOO_DEEP`, `SESSION_EVENT_TOO_LARGE`.
 */
export function encodeLine(event: SessionEvent): Uint8Array {
  const text = textOf(event)
  // Each level takes two characters at least. The text bounds the walk, too: data may hold one object in many places.
  if (text.length > 2 * MAX_DEPTH && isDeeperThan(MAX_DEPTH, event.data)) throw tooDeep(event)
  return Buffer.from(`${text}\n`)
}

function textOf(event: SessionEvent): string {
  try {
    return JSON.stringify(event)
  } catch (cause) {
    const isDeep = cause instanceof RangeError && /call stack/i.test(cause.message)
    throw isDeep
      ? tooDeep(event, { cause })
      : new HarnessError(`"${event.type}": the data is too large for a line of the log`, 'SESSION_EVENT_TOO_LARGE', { cause })
  }
}

function tooDeep({ type }: SessionEvent, options?: ErrorOptions): HarnessError {
  const why = `"${type}": the data nests deeper than ${MAX_DEPTH} levels, which is too deep for a line of the log`
  return new HarnessError(why, 'SESSION_EVENT_TOO_DEEP', options)
}

function isDeeperThan(levels: number, data: unknown): boolean {
  if (typeof data !== 'object' || data === null) return false
  if (levels === 0) return true
  for (const member of Object.values(data)) if (isDeeperThan(levels - 1, member)) return true
  return false
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * The event of one line: a deep-frozen snapshot, with what a newer writer put beside the known fields.
 * @throws Error that says what is wrong with the line.
 */
export function decodeLine(bytes: Uint8Array, seq: number, id: string): SessionEvent {
  const event = parseSnapshot(UTF8.decode(bytes), 'event') as unknown
  if (!isRecord(event)) throw new Error('it holds no event')
  if (event['seq'] !== seq) throw new Error(`seq is ${JSON.stringify(event['seq'])}, expected ${seq}`)
  if (typeof event['time'] !== 'number') throw new Error(`time is ${JSON.stringify(event['time'])}, expected a number`)
  if (typeof event['type'] !== 'string') throw new Error(`type is ${JSON.stringify(event['type'])}, expected text`)
  if (!('data' in event)) throw new Error('data is missing')
  if (seq === 0) checkVersion(event['data'])
  const fault = faultOfEvent(event['type'], event['data'], seq)
  if (fault !== undefined) throw new Error(fault)
  if (seq === 0) checkOwner(event['data'], id)
  return event as unknown as SessionEvent
}

function checkVersion(start: unknown): void {
  const { version } = (start ?? {}) as SessionEventMap['session/start']
  if (version > SESSION_VERSION) throw new Error(`the log is of version ${version}, and this package reads up to ${SESSION_VERSION}`)
}

function checkOwner(start: unknown, id: string): void {
  const { id: owner } = start as SessionEventMap['session/start']
  if (owner !== id) throw new Error(`the log is that of session "${owner}", not of "${id}"`)
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
