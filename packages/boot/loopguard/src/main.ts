import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Command, CommanderError, InvalidArgumentError } from 'commander'
import { addAcpCommand } from './acp/command.ts'
import { addChatCommand } from './chat/command.ts'
import { pageWriter } from './chat/page.ts'
import { addCompletionCommand } from './completion/command.ts'
import { CompositionError } from './load/faults.ts'
import { addLogCommands } from './logs/commands.ts'
import { LogFault } from './logs/fault.ts'
import { addReportCommand } from './report/command.ts'
import { PACKAGE_FOLDER } from './package-folder.ts'
import { outletOf } from './show/outlet.ts'
import { EXIT } from './run/exit-codes.ts'
import type { PromptChoice } from './run/agents.ts'
import { parseTroubles, type Trouble } from './run/fail-on.ts'
import { replayCommand } from './run/replay-command.ts'
import type { RunOptions } from './run/run.ts'
import { withExamples } from './usage/examples.ts'
import { pointToHelp } from './usage/hints.ts'
import { addWorkCommands } from './work/commands.ts'

const DEFAULT_LIMIT_MS = 30_000

interface Shared {
  readonly json?: true | undefined
  readonly loadLimit: number
  readonly stopLimit: number
  readonly failOn?: readonly Trouble[] | undefined
}

interface RunFlags {
  readonly waitForJobs?: true
  readonly prompt?: PromptChoice
}

/** The command line. Never rejects for what a user can get wrong: it says so on standard error and returns the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  let code: number = EXIT.completed
  const out = outletOf(process.stdout)
  const notes = outletOf(process.stderr)
  const program = new Command('loopguard')
    .description('Runs a composition of Cordis plugins, and shows what its agents do.')
    .version(version(), '-V, --version')
    .exitOverride()
    .configureOutput({ writeOut: (text) => out.write(text), writeErr: (text) => notes.write(text) })
    .addHelpText(
      'after',
      '\nExit codes: 0 every turn completed, 1 a row did not start, 2 usage, 3 a turn ended otherwise, 4 what --fail-on names has happened, 5 standard output could not be written to, 129, 130 and 143 after SIGHUP, SIGINT and SIGTERM.',
    )
  const runs = shared(program.command('run').argument('[cordis.yml]', 'the composition', 'cordis.yml'))
    .description('boot a composition, send its agents their prompts, and end when all of them are idle')
    .option('--wait-for-jobs', 'wait for background jobs, instead of ending what still runs when all agents are idle')
    .option('--prompt [text]', 'send every configured agent its prompt, or this text, also if it goes on with a log', parsePrompt)
    .action(async (path: string, { waitForJobs, prompt, ...shared }: Shared & RunFlags) => {
      const file = resolve(path)
      const [{ readRows }, { run }] = await Promise.all([import('./load/rows.ts'), import('./run/run.ts')])
      code = await run({ file, rows: await readRows(file), ...sharedOf(shared), waitForJobs: waitForJobs === true, prompt, out, notes })
    })
  withExamples(
    runs,
    ['loopguard run', 'the cordis.yml of this folder'],
    ['loopguard run team/cordis.yml --wait-for-jobs', 'another one, with what it starts in the background'],
    ['loopguard run --prompt "Go on"', 'the agents go on with their logs, and are told this'],
    ['loopguard run --json > events.jsonl', 'every event, for a program'],
    ['loopguard run --fail-on reminder,timeout', 'in CI: exit with 4 when an agent went in circles or a call timed out'],
  )
  const replay = program
    .command('replay')
    .argument('<transcript>', 'a recorded conversation, in any format that is read; - is standard input')
  replayCommand(
    shared(replay),
    (options: Shared) => ({ ...sharedOf(options), out, notes }),
    (ended) => (code = ended),
  )
  addLogCommands(program, out)
  addReportCommand(program, out, notes, (ended) => (code = ended))
  addAcpCommand(program, { out, notes }, (ended) => (code = ended))
  addWorkCommands(program, { out, notes }, (ended) => (code = ended))
  addChatCommand(program, { out, notes }, pageWriter(main), (ended) => (code = ended))
  addCompletionCommand(program, out)
  withExamples(
    program,
    ['loopguard run', 'runs the cordis.yml of this folder'],
    ['loopguard replay session.jsonl', 'shows where the guards would have acted in a recorded conversation'],
    ['loopguard run --help', 'shows the options of a command, and examples'],
  )
  pointToHelp(program)
  try {
    await program.parseAsync(args, { from: 'user' })
    return code
  } catch (error) {
    return codeOf(error)
  }
}

function shared(command: Command): Command {
  return command
    .option('--json', 'one JSON object a line: {"agent", "event"}, at last {"summary"}')
    .option('--load-limit <ms>', 'how long the rows may take to start', parseLimit, DEFAULT_LIMIT_MS)
    .option('--fail-on <what>', 'exit with 4 after any of these, separated by commas: reminder, timeout', parseTroubles)
    .option('--stop-limit <ms>', 'how long calls may take to stop after a signal', parseLimit, DEFAULT_LIMIT_MS)
}

function sharedOf({ json, loadLimit, stopLimit, failOn }: Shared): Pick<RunOptions, 'json' | 'loadLimitMs' | 'stopLimitMs' | 'failOn'> {
  return { json: json === true, loadLimitMs: loadLimit, stopLimitMs: stopLimit, failOn }
}

function codeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.completed : EXIT.usage
  if (!(error instanceof CompositionError || error instanceof LogFault)) throw error
  outletOf(process.stderr).say(`loopguard: ${error.message}\n`)
  return EXIT.loadFailed
}

function parseLimit(text: string): number {
  const limit = Number(text)
  if (!(limit >= 1 && limit <= 2_147_483_647)) throw new InvalidArgumentError('Expected milliseconds, 1 to 2147483647.')
  return limit
}

function parsePrompt(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('Expected text that is not blank.')
  if (/^\S+\.ya?ml$/.test(text)) throw new InvalidArgumentError(`It was taken as the text; write: loopguard run ${text} --prompt`)
  return text
}

function version(): string {
  return (JSON.parse(readFileSync(new URL('package.json', PACKAGE_FOLDER), 'utf8')) as { version: string }).version
}
