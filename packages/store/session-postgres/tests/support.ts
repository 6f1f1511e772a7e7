import { createUserMessage, SessionId, text, type UserMessage } from '@loopguard/llm'
import { type EventSink, SESSION_VERSION, type SessionEvent } from '@loopguard/session'

export function eventOf(seq: number, type: string, data: unknown): SessionEvent {
  return { seq, time: 1_700_000_000_000 + seq, type, data } as unknown as SessionEvent
}

export const startOf = (id: string): SessionEvent => eventOf(0, 'session/start', { version: SESSION_VERSION, id })

/** Writes without waiting. */
export function put(sink: EventSink, ...events: readonly SessionEvent[]): void {
  for (const event of events) sink.write(sink.encode(event))
}

/** A log with its first event, durable. */
export async function begin(backend: { create(id: SessionId): EventSink }, id: string): Promise<EventSink> {
  const sink = backend.create(SessionId(id))
  put(sink, startOf(id))
  await sink.flush?.()
  return sink
}

export async function release(sink: EventSink): Promise<void> {
  sink.close()
  await sink.released
}

export function says(words: string, id?: string): UserMessage {
  const message = createUserMessage({ content: [text(words)], source: { kind: 'user' } })
  return id === undefined ? message : ({ ...message, id } as UserMessage)
}

/** Waits until it is so, looking every few milliseconds. The test's own limit bounds it. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 5))
}
