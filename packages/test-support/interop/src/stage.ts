import type { Agent, Call, Exec, MountedHost, Result } from './host.ts'
import type { Subject } from './subject.ts'
import { reminderKind } from './transcript.ts'

/** One host with one pair of guards at hand, none of them loaded yet. */
export interface Stage {
  readonly host: MountedHost
  readonly subject: Subject
}

/** What the suite asks of a guard in a host. `run` throws when the guard does otherwise. */
export interface Behaviour {
  readonly id: string
  readonly guard: 'repeat-tool-reminder' | 'timeout-policy' | 'both' | 'invariants'
  /** A sentence with the guard as its subject. */
  readonly says: string
  run(stage: Stage): Promise<void>
}

/** The call that loops, and another one. */
export const A: Call = { name: 'look', arguments: { at: 1 } }
export const B: Call = { name: 'look', arguments: { at: 2 } }
/** Bookkeeping that tests exclude. */
export const X: Call = { name: 'note', arguments: {} }

export function times<T>(count: number, value: T): T[] {
  return Array.from({ length: count }, () => value)
}

/** Loads the reminder and two tools that always answer the same. */
export async function withReminder({ host, subject }: Stage, config: object = {}): Promise<() => Promise<void>> {
  for (const name of ['look', 'note']) host.tool({ name, run: () => 'same' })
  return host.plug(subject.repeatToolReminder, config)
}

/** Makes calls one after the other, past the loop, and returns the reminders on their results. */
export async function remindersOf(host: MountedHost, agent: Agent | undefined, calls: readonly Call[]): Promise<string[]> {
  const found: string[] = []
  for (const call of calls) found.push(...remindersOn(await host.call(call, agent && { agent })))
  return found
}

export function remindersOn(result: Result): string[] {
  return (result.additionalContexts ?? []).map(reminderKind).filter((kind) => kind !== undefined)
}

/** The next stage of a waterfall, as raw listeners get it. */
export type Next<T = Result> = () => Promise<T>
export type ExecuteListener = (exec: Exec, next: Next) => Promise<Result>
