import { resolve } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import type { Outlet } from '../show/outlet.ts'
import { withExamples } from '../usage/examples.ts'

export interface WorkOutlets {
  readonly out: Outlet
  readonly notes: Outlet
}

const DEFAULT_LIMIT_MS = 30_000

/** The commands for agents that many processes share through a database. `ended` is told the exit code of a worker. */
export function addWorkCommands(program: Command, { out, notes }: WorkOutlets, ended: (code: number) => void): void {
  const composition = ['[cordis.yml]', 'the composition with the row @loopguard/session-postgres', 'cordis.yml'] as const
  const worker = program
    .command('work')
    .argument(...composition)
    .description('run the agents that have mail, whoever sent it, and those whose worker has died, until a signal comes')
    .option('--max <agents>', 'how many agents run here at once', parseCount, 400)
    .option('--load-limit <ms>', 'how long the rows may take to start', parseCount, DEFAULT_LIMIT_MS)
    .option('--stop-limit <ms>', 'how long agents may take to end what they have begun after a signal', parseCount, DEFAULT_LIMIT_MS)
    .action(async (path: string, { max, loadLimit, stopLimit }: Readonly<Record<'max' | 'loadLimit' | 'stopLimit', number>>) => {
      const { work } = await import('./work.ts')
      ended(await work({ file: resolve(path), max, loadLimitMs: loadLimit, stopLimitMs: stopLimit, out, notes }))
    })
  withExamples(
    worker,
    ['loopguard work', 'runs the agents that have mail, until a signal comes'],
    ['loopguard work fleet.yml --max 50', 'no more than 50 of them at once'],
  )
  const sender = program
    .command('send')
    .argument('<agent>', 'the id of the agent; one that is new is made by the worker that takes the message')
    .argument('<text>', 'what to say to it')
    .description('queue a message for an agent, wherever it runs')
    .option('--composition <cordis.yml>', composition[1], composition[2])
    .option('--id <message>', 'the id of the message: again with the same id, it is delivered once; default: a fresh one')
    .option('--unpark', 'let an agent go on that was parked')
    .action(async (agent: string, words: string, options: { composition: string; id?: string; unpark?: true }) => {
      const { sendText } = await import('./operate.ts')
      out.say(await sendText(resolve(options.composition), agent, words, { id: options.id, unpark: options.unpark === true }))
    })
  withExamples(
    sender,
    ["loopguard send clerk 'Good morning'", 'queues a message for the agent clerk'],
    ["loopguard send clerk 'Go on' --unpark", 'lets it go on after it was parked'],
  )
  const migration = program
    .command('migrate')
    .argument(...composition)
    .description('make the tables of the sessions, or bring them up to date; again changes nothing')
    .action(async (path: string) => {
      const { migrate } = await import('./operate.ts')
      out.say(await migrate(resolve(path)))
    })
  withExamples(migration, ['loopguard migrate', 'makes the tables that the cordis.yml of this folder names'])
}

function parseCount(text: string): number {
  const count = Number(text)
  if (!/^\d+$/.test(text) || !(count >= 1 && count <= 2_147_483_647)) throw new InvalidArgumentError('Expected 1 to 2147483647.')
  return count
}
