import { resolve } from 'node:path'
import type { Command } from 'commander'
import { AuditReport } from '../audit/audit-report.ts'
import { CompositionError } from '../load/faults.ts'
import { withExamples } from '../usage/examples.ts'
import { auditFlags } from './audit-flags.ts'
import { GUARD_ROWS, type ReplayOptions, replayRows } from './replay-rows.ts'
import { run, type RunOptions } from './run.ts'

/** What `run` shares with `replay`: limits, outlets, the form of the output. */
export type SharedOptions = Omit<RunOptions, 'file' | 'rows' | 'audit' | 'summaryOnly'>

/**
 * The command that plays a transcript through the guards.
 *
 * @param command - made, and given the options that it shares with others.
 */
export function replayCommand<Shared>(
  command: Command,
  sharedOf: (options: Shared) => SharedOptions,
  done: (code: number) => void,
): Command {
  withExamples(
    command,
    ['loopguard replay session.jsonl', 'the conversation, and where the guards act in it'],
    ['loopguard replay session.jsonl --summary', 'only what they find'],
    ['loopguard replay session.jsonl --thresholds 3,6', 'with other thresholds'],
    ['curl -s $URL | loopguard replay -', 'from standard input'],
  )
  return auditFlags(command.description('play a recorded conversation through the guards, and show where their reminders act'))
    .option('--summary', 'nothing of the conversation, only what comes after it')
    .action(async (path: string, options: Shared & ReplayOptions & { readonly summary?: true }) => {
      const { thresholds, include, exclude, guards, results, errors } = options
      const replay: ReplayOptions = { thresholds, include, exclude, guards, results, errors }
      const audit = new AuditReport(replay)
      const shared = sharedOf(options)
      try {
        const code = await run({
          file: resolve(path),
          rows: replayRows(path, replay),
          ...shared,
          summaryOnly: options.summary === true,
          audit,
        })
        if (audit.calls === 0)
          shared.notes.say(
            `warning: ${path === '-' ? 'standard input' : path} holds no tool call, so there is nothing that a guard could say\n`,
          )
        done(code)
      } catch (error) {
        const misuse = refusedOptions(error)
        if (misuse === undefined) throw error
        command.error(`error: ${misuse}`)
      }
    })
}

/** What guards say of a configuration that came from the command line; `undefined` for faults of any other kind. */
function refusedOptions(error: unknown): string | undefined {
  if (!(error instanceof CompositionError)) return undefined
  const refused = error.faults.filter(
    ({ row, error: thrown }) => row !== undefined && GUARD_ROWS.has(row) && thrown instanceof Error && thrown.name === 'ValidationError',
  )
  return refused.length === error.faults.length ? refused.map(({ cause }) => cause).join('\n') : undefined
}
