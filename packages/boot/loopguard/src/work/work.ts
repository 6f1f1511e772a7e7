import type { Context } from '@deepseek-ai/cordis'
import { compose } from '../load/compose.ts'
import { ErrorLog } from '../load/error-log.ts'
import { readRows } from '../load/rows.ts'
import { LogFault } from '../logs/fault.ts'
import { EXIT } from '../run/exit-codes.ts'
import { unload } from '../run/quit.ts'
import { StopSignals } from '../run/stop-signals.ts'
import type { WorkOutlets } from './commands.ts'
import { type AgentRow, STORE, takeAgents } from './rows.ts'

export interface WorkOptions extends WorkOutlets {
  readonly file: string
  readonly max: number
  readonly loadLimitMs: number
  readonly stopLimitMs: number
}

/** What the command knows of the store and of its workers. It finds services by name, and imports none. */
interface Store {
  readonly worker: string
  work(options: {
    readonly loop: unknown
    readonly max: number
    readonly optionsOf: (id: string) => Readonly<Record<string, unknown>>
    readonly tell: (line: string) => void
  }): Worker
}

interface Worker {
  drain(limitMs: number): Promise<boolean>
}

/**
 * Runs a worker until a signal comes, and lets its agents end what they have begun.
 * @returns the exit code: 0 when they have, that of the signal when some were left to the next worker.
 * @throws CompositionError when a row did not become active, LogFault for a composition without agents or without the store.
 */
export async function work({ file, max, loadLimitMs, stopLimitMs, out, notes }: WorkOptions): Promise<number> {
  const rows = await readRows(file)
  const agents = await takeAgents(file, rows)
  const say = (line: string): void => notes.say(`${line}\n`)
  const signals = new StopSignals()
  const log = new ErrorLog((text) => notes.say(text))
  const ctx = await compose(rows, { file, loadLimitMs, log, note: (line) => say(`note: ${line}`) })
  const store = storeOf(ctx)
  if (store === undefined) {
    await unload(ctx, stopLimitMs, (text) => notes.say(text))
    throw new LogFault(`${file} has no row ${STORE}: its agents live in this process alone`)
  }
  const worker = store.work({ loop: ctx.get('agentLoop'), max, optionsOf: (id) => optionsOf(agents, id), tell: say })
  out.say(`worker "${store.worker}" is ready\n`)
  say(`${await signals.first}: draining; a second one ends at once`)
  const isDone = await worker.drain(stopLimitMs)
  await unload(ctx, stopLimitMs, (text) => notes.say(text))
  return isDone ? EXIT.completed : (signals.exitCode ?? EXIT.completed)
}

/** Those of the row with its id, else of the first. */
function optionsOf(agents: readonly [AgentRow, ...AgentRow[]], id: string): Readonly<Record<string, unknown>> {
  const { id: _id, prompt: _prompt, ...options } = agents.find((row) => row.id === id) ?? agents[0]
  return options
}

function storeOf(ctx: Context): Store | undefined {
  const sessions = ctx.get('sessions') as Partial<Store> | undefined
  return typeof sessions?.work === 'function' ? (sessions as Store) : undefined
}
