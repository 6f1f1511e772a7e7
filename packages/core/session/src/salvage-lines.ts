import { messageOf, parseSnapshot } from '@loopguard/kit'
import type { SessionEvent } from './events.ts'
import { faultOfEvent } from './event-shape.ts'

/** One line of a damaged log: the event that could be read from it, or why there is none. `line` counts from 1. */
export type SalvagedLine =
  { readonly line: number; readonly event: SessionEvent; readonly cleaned?: string } | { readonly line: number; readonly why: string }

const LINE_BREAK = 0x0a
const NUL = 0

/** Reads what can be read, line by line. A block of NULs, which a file system may leave after a power failure, is cut from its line. */
export function* salvageLines(bytes: Uint8Array): Generator<SalvagedLine, void, undefined> {
  let line = 0
  for (let start = 0; start < bytes.length;) {
    const found = bytes.indexOf(LINE_BREAK, start)
    const end = found < 0 ? bytes.length : found
    yield lineOf(++line, bytes.subarray(start, end), found >= 0)
    start = end + 1
  }
}

function lineOf(line: number, bytes: Uint8Array, isWhole: boolean): SalvagedLine {
  const text = new TextDecoder().decode(withoutNuls(bytes))
  if (text === '') return { line, why: bytes.length === 0 ? 'an empty line' : `${bytes.length} NUL bytes` }
  try {
    const event = parseSnapshot(text, 'event') as unknown as SessionEvent
    const fault = faultOf(event)
    if (fault !== undefined) return { line, why: fault }
    const lost = bytes.length - withoutNuls(bytes).length
    return { line, event, ...(lost > 0 && { cleaned: `${lost} NUL bytes around the event` }) }
  } catch (thrown) {
    return { line, why: isWhole ? `not JSON: ${messageOf(thrown)}` : 'a torn last line' }
  }
}

function withoutNuls(bytes: Uint8Array): Uint8Array {
  let start = 0
  let end = bytes.length
  while (start < end && bytes[start] === NUL) start++
  while (end > start && bytes[end - 1] === NUL) end--
  return bytes.subarray(start, end)
}

function faultOf(event: unknown): string | undefined {
  if (typeof event !== 'object' || event === null || Array.isArray(event)) return 'not an event'
  const { seq, time, type, data } = event as Partial<SessionEvent>
  if (!Number.isSafeInteger(seq)) return 'an event without a `seq`'
  if (typeof time !== 'number') return 'an event without a `time`'
  if (typeof type !== 'string') return 'an event without a `type`'
  if (!('data' in event)) return 'an event without `data`'
  // Where it stands is judged later.
  return faultOfEvent(type, data, type === 'session/start' ? 0 : 1)
}
