import type { Context } from '@deepseek-ai/cordis'
import { messageOf } from '@loopguard/kit'
import type { AuditReport } from '../audit/audit-report.ts'
import { compose } from '../load/compose.ts'
import { ErrorLog } from '../load/error-log.ts'
import type { Row } from '../load/rows.ts'
import { settlesWithin, UNLOAD_LIMIT_MS } from '../load/time-limit.ts'
import { linesFor } from '../show/lines.ts'
import type { Outlet } from '../show/outlet.ts'
import { Report } from '../show/report.ts'
import { busyAgents, cancelAgents, type PromptChoice, quiescence, sendPrompts, tellLogs, unmatchedInvariants } from './agents.ts'
import { EXIT } from './exit-codes.ts'
import { closingOf, frontendOf } from './frontend.ts'
import { happened, type Trouble } from './fail-on.ts'
import { HeldOutput } from './held-output.ts'
import { runningJobs, workDone } from './jobs.ts'
import { GRACE_MS, nameTheDeaf, unload } from './quit.ts'
import { stayAlive } from './stay-alive.ts'
import { StopSignals } from './stop-signals.ts'

/** Node fires anything longer after one millisecond. */
const MAX_TIMER_DELAY_MS = 2_147_483_647

export interface RunOptions {
  /** The file that the rows come from, or stand for. Absolute. */
  readonly file: string
  readonly rows: readonly Row[]
  /** One JSON object a line instead of text. */
  readonly json: boolean
  readonly loadLimitMs: number
  /** How long agents are waited for that were told to stop. */
  readonly stopLimitMs: number
  /** Whether background jobs are waited for, and not ended. */
  readonly waitForJobs?: boolean
  /** What the configured agents are sent. */
  readonly prompt?: PromptChoice
  /** Nothing of the conversation: what comes after it alone. */
  readonly summaryOnly?: boolean
  /** What fails a run in which every turn has completed. */
  readonly failOn?: readonly Trouble[] | undefined
  /** What rules say of what the agents did is told before the summary. */
  readonly audit?: AuditReport
  /** Called with the fresh context, before any row starts. */
  readonly attach?: (ctx: Context) => void
  readonly out: Outlet
  readonly notes: Outlet
}

/**
 * Runs a composition to its end: starts every row, sends the agents their prompts, shows what they do, and unloads everything when
 * all of them are idle, or have been told to stop (by a signal, or because standard output cannot be written to) and have stopped.
 * While a front end is mounted it waits for that to be closed, and not until all agents are idle.
 *
 * @returns the exit code.
 * @throws CompositionError when a row did not become active; then nothing was sent.
 */
export async function run(options: RunOptions): Promise<number> {
  const { file, rows, json, loadLimitMs, stopLimitMs, waitForJobs = false, summaryOnly = false, failOn = [], audit, prompt } = options
  const { out, notes } = options
  const say = (text: string): void => notes.say(text)
  const signals = new StopSignals()
  const shown = new HeldOutput((text) => out.write(text))
  // A person reads along: what that takes is loaded before anything runs.
  const [lines, live] = await Promise.all([linesFor(out.style), out.style.movesCursor ? import('../live/live-line.ts') : undefined])
  const report = new Report({ json, summaryOnly, style: out.style, lines, write: (text) => shown.write(text), audit })
  let loading: Context | undefined
  const composed = compose(rows, {
    file,
    loadLimitMs,
    log: new ErrorLog(say),
    attach: (ctx) => {
      loading = ctx
      report.attach(ctx)
      options.attach?.(ctx)
    },
    note: (line) => say(`note: ${line}\n`),
  })
  const ctx = await Promise.race([composed, signals.first.then(() => undefined)])
  if (ctx === undefined) {
    composed.catch(() => {})
    if (loading !== undefined) await settlesWithin(UNLOAD_LIMIT_MS, loading.fiber.dispose())
    return signals.exitCode ?? EXIT.completed
  }
  const frontend = frontendOf(ctx)
  const isMute = frontend?.ownsStdout === true
  if (isMute) shown.drop()
  else shown.open()
  // It may be meant so, but it should not be found out by accident that a check is not on.
  for (const entry of unmatchedInvariants(ctx)) say(`invariants: ${entry} matches no package that has registered its checks\n`)
  // Who talks to the agents has seen how their turns ended.
  const hasFailed = (): boolean => frontend === undefined && report.failed
  const ending = (): number => (hasFailed() ? EXIT.notCompleted : happened(failOn, report.counts) ? EXIT.troubled : EXIT.completed)
  const isUnread = (): boolean => !isMute && out.isBroken
  const exitCode = (): number => signals.exitCode ?? (isUnread() ? EXIT.outputFailed : ending())

  const stopped = Promise.race([
    signals.first.then((signal) => ({ words: `${signal}: cancelling; a second one ends at once\n`, cause: { kind: 'signal', signal } })),
    (isMute ? new Promise<never>(() => {}) : out.broken).then(({ message }) => ({
      words: `standard output: ${message}: cancelling\n`,
      cause: { kind: 'output', message },
    })),
    closingOf(frontend).then((fault) => ({
      words: fault === undefined ? '' : `front end: ${messageOf(fault)}: cancelling\n`,
      cause: { kind: 'frontend-closed' },
    })),
  ])
  const running = (): string[] => {
    const calls = report.calls.activities.running()
    return calls.length > 0 ? calls : busyAgents(ctx).map(({ id }) => `agent "${id}"`)
  }
  let endWaiting = stayAlive(running, (hanging) =>
    say(hanging.map((line) => `${line} hangs: nothing is left that could end it, no timer and no socket\n`).join('')),
  )
  const isTooLate = stopped.then(async ({ words, cause }) => {
    say(words)
    endWaiting()
    endWaiting = nameTheDeaf(running, stopLimitMs, say)
    cancelAgents(ctx, cause, stopLimitMs)
    await new Promise((resolve) => setTimeout(resolve, Math.min(stopLimitMs + GRACE_MS, MAX_TIMER_DELAY_MS)).unref())
    say(
      running()
        .map((line) => `${line} did not stop; leaving\n`)
        .join(''),
    )
  })
  const words = (): string | undefined => live?.waitingFor(report.calls.activities, report.counts, performance.now())
  const endLiveLine = json || isMute ? undefined : live?.liveLine({ stream: out.stream, others: [notes.stream], style: out.style, words })
  try {
    tellLogs(ctx, say)
    if (!sendPrompts(ctx, prompt, say) && frontend === undefined) say('nothing to do: no agent has a prompt that is to be sent\n')
    const isDone = frontend === undefined ? workDone(ctx, waitForJobs) : new Promise<never>(() => {})
    await Promise.race([isDone, stopped.then(() => quiescence(ctx)), isTooLate])
  } finally {
    endLiveLine?.()
  }
  endWaiting()
  report.finish()
  for (const { id, owner, label } of runningJobs(ctx)) say(`ending job ${id} of agent "${owner}", which still runs: ${label}\n`)
  // From here on Node may end by itself; it must not do so with a code of its own.
  process.exitCode = exitCode()
  await unload(ctx, signals.exitCode === undefined && !isUnread() && frontend === undefined ? stopLimitMs : GRACE_MS, say)
  return exitCode()
}
