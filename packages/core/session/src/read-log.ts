import { type FileHandle, open, stat } from 'node:fs/promises'
import { messageOf } from '@loopguard/kit'
import type { SessionEvent } from './events.ts'
import { badLog, readFailed } from './failures.ts'
import { decodeLine } from './line.ts'

export interface StoredLog {
  readonly events: SessionEvent[]
  /** Up to the last line break. What follows was torn. */
  readonly size: number
}

const CHUNK_BYTES = 256 * 1024
const LINE_BREAK = 0x0a

/**
 * Reads a log piece by piece: it may be larger than any string.
 * @throws HarnessError `BAD_LOG` for a whole line that is no valid event, `SESSION_READ_FAILED`.
 */
export async function readLog(file: string, id: string): Promise<StoredLog> {
  const events: SessionEvent[] = []
  let size = 0
  for await (const { event, end } of entriesOf(file, id)) {
    events.push(event)
    size = end
  }
  return { events, size }
}

/** The events of a log, as far as they are asked for. @throws as {@link readLog} */
export async function* eventsOf(file: string, id: string): AsyncGenerator<SessionEvent, void, undefined> {
  for await (const { event } of entriesOf(file, id)) yield event
}

/** `end` is where the line of the event ends, in bytes. */
async function* entriesOf(file: string, id: string): AsyncGenerator<{ event: SessionEvent; end: number }, void, undefined> {
  const handle = await openFile(file)
  try {
    let seq = 0
    let end = 0
    for await (const line of linesOf(handle, file)) {
      end += line.length + 1
      yield { event: eventOf(line, seq++, id, file), end }
    }
  } finally {
    // It was read alone: a close that fails loses nothing, and hides nothing that went wrong before.
    await handle.close().catch(() => {})
  }
}

/** Opening what is no regular file may never come back, and reading it may never end. */
async function openFile(file: string): Promise<FileHandle> {
  try {
    if ((await stat(file)).isFile()) return await open(file)
  } catch (cause) {
    throw readFailed(file, cause)
  }
  throw badLog(file, 1, 'it is no regular file')
}

function eventOf(line: Uint8Array, seq: number, id: string, file: string): SessionEvent {
  try {
    return decodeLine(line, seq, id)
  } catch (cause) {
    throw badLog(file, seq + 1, messageOf(cause), cause)
  }
}

/** Whole lines, without their line breaks. */
async function* linesOf(handle: FileHandle, file: string): AsyncGenerator<Uint8Array, void, undefined> {
  let pieces: Uint8Array[] = []
  let position = 0
  for (;;) {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
    const { bytesRead } = await handle.read(chunk, 0, CHUNK_BYTES, position).catch((cause: unknown) => {
      throw readFailed(file, cause)
    })
    if (bytesRead === 0) return
    position += bytesRead
    const bytes = chunk.subarray(0, bytesRead)
    let start = 0
    for (let end = bytes.indexOf(LINE_BREAK); end >= 0; end = bytes.indexOf(LINE_BREAK, start)) {
      yield pieces.length === 0 ? bytes.subarray(start, end) : Buffer.concat([...pieces, bytes.subarray(start, end)])
      pieces = []
      start = end + 1
    }
    if (start < bytesRead) pieces.push(bytes.subarray(start))
  }
}
