import type { Command } from 'commander'
import { withExamples } from '../usage/examples.ts'
import { auditFlags } from './audit-flags.ts'
import type { ReplayOptions } from './replay-rows.ts'
import type { RunOptions } from './run.ts'

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
    .action(async (transcript: string, options: Shared & ReplayOptions & { readonly summary?: true }) => {
      const { thresholds, include, exclude, guards, results, errors } = options
      const { replay } = await import('./replay.ts')
      const code = await replay({
        ...sharedOf(options),
        transcript,
        guards: { thresholds, include, exclude, guards, results, errors },
        summaryOnly: options.summary === true,
        refuse: (misuse) => command.error(`error: ${misuse}`),
      })
      done(code)
    })
}
