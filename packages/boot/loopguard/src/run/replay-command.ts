import { resolve } from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { AuditReport } from '../audit/audit-report.ts'
import { type RuleName, RULES } from '../audit/audit.ts'
import { CompositionError } from '../load/faults.ts'
import { withExamples } from '../usage/examples.ts'
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
  return command
    .description('play a recorded conversation through the guards, and show where their reminders act')
    .option('--thresholds <counts>', 'at how many equal calls in a row to remind, such as 3,5,8', parseCounts)
    .option('--include <pattern>', 'track these tools only; * stands for anything; repeatable', collect)
    .option('--exclude <pattern>', 'do not track these tools; repeatable', collect)
    .option('--guards <names>', `the rules to ask, of ${RULES.join(', ')}; default: all`, parseGuards)
    .addOption(
      new Option('--results <which>', 'whether equal calls count with any results, or only with unchanged ones').choices([
        'any',
        'unchanged',
      ]),
    )
    .option('--errors <expression>', 'a result in which this regular expression finds something is a failure', parseExpression)
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

function parseCounts(text: string): number[] {
  const counts = text.split(',').map((part) => (/^\s*\d+\s*$/.test(part) ? Number(part) : Number.NaN))
  if (counts.some(Number.isNaN)) throw new InvalidArgumentError('Expected integers separated by commas, such as 3,5,8.')
  return counts
}

function parseGuards(text: string): RuleName[] {
  const names = text.split(',').map((name) => name.trim())
  const unknown = names.find((name) => !RULES.includes(name as RuleName))
  if (unknown !== undefined) throw new InvalidArgumentError(`There is no "${unknown}"; the names are ${RULES.join(', ')}.`)
  return [...new Set(names)] as RuleName[]
}

function parseExpression(text: string): string {
  try {
    new RegExp(text, 'm')
  } catch (error) {
    throw new InvalidArgumentError(`Expected a regular expression: ${(error as Error).message}.`)
  }
  if (text.trim() === '') throw new InvalidArgumentError('Expected a regular expression that is not blank.')
  return text
}

function collect(pattern: string, patterns: readonly string[] = []): string[] {
  return [...patterns, pattern]
}
