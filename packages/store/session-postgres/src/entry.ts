import { type SessionEvent, titleOf } from '@loopguard/session'

/** One line of a log, and what the head of its session is to know of it. */
export interface Entry {
  readonly text: string
  /** The message that it queues: what was mail until now. */
  readonly mail?: string
  /** What a person says in it. */
  readonly title?: string
  /** A turn starts; ends; or ends because a process was killed. */
  readonly turn?: 'started' | 'ended' | 'cut'
}

/** @param line - the event with its line break. */
export function entryOf(event: SessionEvent, line: Uint8Array): Entry {
  const text = Buffer.from(line.buffer, line.byteOffset, line.length - 1).toString()
  if (event.type === 'turn/start') return { text, turn: 'started' }
  if (event.type === 'turn/end') return { text, turn: event.data.reason.kind === 'interrupted' ? 'cut' : 'ended' }
  if (event.type === 'inbox/queued') {
    const { id } = event.data.message
    return isPlain(id) ? { text, mail: id } : { text }
  }
  const title = titleOf(event.type, event.data)
  return title === undefined ? { text } : { text, title: plain(title) }
}

/** Whether a text column takes it as it is. */
export function isPlain(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}

function plain(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd')
}
