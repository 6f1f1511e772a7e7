import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Context } from '@deepseek-ai/cordis'
import { CallId, codeOf, createAssistantMessage, createToolResultMessage, createUserMessage, text, type UserMessage } from '@loopguard/llm'
import SessionStore, { type Session, type SessionEvent, type SessionEventMap, type SessionEventType } from '@loopguard/session'
import { mountInvariants } from '@loopguard/testkit'
import { onTestFinished } from 'vitest'

/** A type that no package knows, for data of any shape. */
declare module '@loopguard/session' {
  interface SessionEventMap {
    'test/note': unknown
  }
}

/** A folder that goes with the test. */
export function tempDir(): string {
  const path = mkdtempSync(join(tmpdir(), 'loopguard-session-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** A host with nothing but the store, which goes with the test. Its invariants are watched, unless the test breaks them on purpose. */
export async function hostWith(
  config: { directory?: string; durable?: boolean } = {},
  { invariants = true }: HostOptions = {},
): Promise<Context> {
  const ctx = new Context()
  await ctx.plugin(SessionStore, config)
  const watch = invariants ? await mountInvariants(ctx) : undefined
  onTestFinished(async () => {
    await ctx.fiber.dispose()
    watch?.assertNone()
  })
  return ctx
}

export interface HostOptions {
  readonly invariants?: boolean
}

export async function storeIn(directory?: string, options?: HostOptions): Promise<SessionStore> {
  return (await hostWith(directory === undefined ? {} : { directory }, options)).sessions
}

/** What was thrown by `act`; a test that expects a throw fails without one. */
export function thrownBy(act: () => unknown): Error & { code?: string } {
  try {
    act()
  } catch (thrown) {
    return thrown as Error
  }
  throw new Error('nothing was thrown')
}

export function codeThrownBy(act: () => unknown): string | undefined {
  return codeOf(thrownBy(act))
}

/** The code of a refusal; undefined when there was none. */
export function outcomeOf(act: () => unknown): string | undefined {
  try {
    act()
    return undefined
  } catch (refused) {
    return codeOf(refused) ?? String(refused)
  }
}

/** What a promise rejects with. */
export async function rejectionOf(promise: Promise<unknown>): Promise<Error & { code?: string }> {
  const outcome = await promise.then(
    () => undefined,
    (thrown: unknown) => ({ thrown }),
  )
  if (outcome === undefined) throw new Error('it did not reject')
  return outcome.thrown as Error
}

export async function codeOfRejection(promise: Promise<unknown>): Promise<string | undefined> {
  return codeOf(await rejectionOf(promise))
}

/** The events after `session/start`, as `[type, data]`. */
export function storyOf(log: { readonly events: readonly SessionEvent[] }): [string, unknown][] {
  return log.events.slice(1).map(({ type, data }) => [type, data])
}

export function typesOf(log: { readonly events: readonly SessionEvent[] }): string[] {
  return log.events.map(({ type }) => type)
}

export function linesOf(directory: string, id: string): string[] {
  return readFileSync(join(directory, `${id}.jsonl`), 'utf8')
    .split('\n')
    .slice(0, -1)
}

export function user(words: string): UserMessage {
  return createUserMessage({ content: [text(words)], source: { kind: 'user' } })
}

/** An assistant message that says `words` and makes the calls. */
export function assistant(words: string, calls: readonly string[] = []): SessionEventMap['assistant/message']['message'] {
  const blocks = calls.map((id) => ({ type: 'tool-call' as const, id: CallId(id), name: 'read', arguments: '{}' }))
  return createAssistantMessage({
    content: [...(words === '' ? [] : [text(words)]), ...blocks],
    source: { provider: 'scripted', model: 'm' },
  })
}

export function resultOf(callId: string, words: string): SessionEventMap['tool/result']['message'] {
  return createToolResultMessage({ callId: CallId(callId), content: [text(words)], isError: false })
}

export type Entry = { [K in SessionEventType]: readonly [K, SessionEventMap[K]] }[SessionEventType]

/** Appends all of it. */
export function write(session: Session, entries: readonly Entry[]): Session {
  for (const [type, data] of entries) session.append(type, data as never)
  return session
}
