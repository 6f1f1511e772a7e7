import { randomUUID } from 'node:crypto'
import type { Context } from '@deepseek-ai/cordis'
import { compose } from '../load/compose.ts'
import { ErrorLog } from '../load/error-log.ts'
import type { Row } from '../load/rows.ts'
import { settlesWithin, UNLOAD_LIMIT_MS } from '../load/time-limit.ts'
import { Outlet } from '../show/outlet.ts'
import { Report } from '../show/report.ts'
import { type Agent, announceReady, loopOf, unmatchedInvariants } from './agents.ts'
import { stayAlive } from './stay-alive.ts'
import { type StopSignal, StopSignals } from './stop-signals.ts'

/** Exit codes of a composition that started. */
const COMPLETED = 0
const NOT_COMPLETED = 3

export interface RunOptions {
  /** The file that the rows come from, or stand for. Absolute. */
  readonly file: string
  readonly rows: readonly Row[]
  /** One JSON object a line instead of text. */
  readonly json: boolean
  readonly loadLimitMs: number
}

/**
 * Runs a composition to its end: starts every row, sends the agents their prompts, shows what they do, and unloads everything when
 * all of them are idle, or when a signal asks for it and all of them have stopped.
 *
 * @returns the exit code: 0, 3 when some turn did not complete, 130 or 143 after a signal.
 * @throws CompositionError when a row did not become active; then nothing was sent.
 */
export async function run({ file, rows, json, loadLimitMs }: RunOptions): Promise<number> {
  const out = new Outlet(process.stdout)
  const notes = new Outlet(process.stderr)
  const signals = new StopSignals()
  const report = new Report({ json, style: out.style, write: (text) => out.write(text) })
  const log = new ErrorLog((text) => notes.say(text))
  let loading: Context | undefined
  const composed = compose(rows, {
    file,
    loadLimitMs,
    log,
    attach: (ctx) => {
      loading = ctx
      report.attach(ctx)
    },
  })
  const ctx = await Promise.race([composed, signals.first.then(() => undefined)])
  if (ctx === undefined) {
    composed.catch(() => {})
    if (loading !== undefined) await settlesWithin(UNLOAD_LIMIT_MS, loading.fiber.dispose())
    return signals.exitCode ?? COMPLETED
  }
  // It may be meant so, but nobody should have to find out by accident that a check is not on.
  for (const entry of unmatchedInvariants(ctx)) notes.say(`invariants: ${entry} matches no package that has registered its checks\n`)
  const stopStaying = stayAlive(
    () => {
      const calls = report.calls.running()
      return calls.length > 0 ? calls : busy(ctx).map(({ id }) => `agent "${id}"`)
    },
    (hanging) => notes.say(hanging.map((line) => `${line} hangs: nothing is left that could end it, no timer and no socket\n`).join('')),
  )
  void signals.first.then((signal) => cancelAll(ctx, signal, notes))
  if (!start(ctx)) notes.say('nothing to do: no agent has a prompt\n')
  await quiescence(ctx)
  stopStaying()
  report.finish()
  // From here on Node may end by itself; it must not do so with a code of its own.
  process.exitCode = signals.exitCode ?? (report.failed ? NOT_COMPLETED : COMPLETED)
  await ctx.fiber.dispose()
  return signals.exitCode ?? process.exitCode
}

/** Sends the prompts of the configured agents. Whether anything runs now. */
function start(ctx: Context): boolean {
  announceReady(ctx)
  const loop = loopOf(ctx)
  for (const { agent, prompt } of loop?.prompts?.() ?? []) {
    agent.followup({ id: randomUUID(), role: 'user', content: [{ type: 'text', text: prompt }], source: { kind: 'user' } })
  }
  return busy(ctx).length > 0
}

/** Waits until every agent is idle, those included that start meanwhile. */
async function quiescence(ctx: Context): Promise<void> {
  for (let agents = busy(ctx); agents.length > 0; agents = busy(ctx)) {
    await Promise.all(agents.map((agent) => agent.whenIdle()))
    // What listens to the end of a turn may start the next one.
    await new Promise((resolve) => setImmediate(resolve))
  }
}

function busy(ctx: Context): Agent[] {
  return (
    loopOf(ctx)
      ?.list()
      .filter(({ status }) => status !== 'idle') ?? []
  )
}

function cancelAll(ctx: Context, signal: StopSignal, notes: Outlet): void {
  notes.say(`${signal}: cancelling; a second one ends at once\n`)
  for (const agent of loopOf(ctx)?.list() ?? []) agent.cancel({ kind: 'signal', signal })
}
