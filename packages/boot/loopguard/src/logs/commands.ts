import { resolve } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import type { Outlet } from '../show/outlet.ts'
import { withExamples } from '../usage/examples.ts'

/** The commands that look after stored logs, and what they say goes to `out`. */
export function addLogCommands(program: Command, out: Outlet): void {
  const sessions = program
    .command('sessions')
    .argument('[cordis.yml]', 'the composition whose sessions they are', 'cordis.yml')
    .description('list the stored sessions, the latest first')
    .option('--directory <folder>', 'the folder of the logs; default: what the row @loopguard/session says')
    .option('--json', 'one JSON object a line: {"id", "updatedAt", "title"}')
    .action(async (path: string, { directory, json }: { readonly directory?: string; readonly json?: true }) => {
      const { sessionsIn } = await import('./sessions.ts')
      out.say(await sessionsIn({ file: resolve(path), directory, json: json === true }))
    })
  const show = program
    .command('show')
    .argument('<log>', 'a session log')
    .description('show a stored session as a run shows it')
    .option('--from <turn>', 'the first turn to show', parseTurn, 1)
    .action(async (log: string, { from }: { readonly from: number }) => {
      const { showLog } = await import('./show.ts')
      await showLog(log, from, out)
    })
  const mend = program
    .command('repair')
    .argument('<log>', 'a session log that does not load')
    .description('write what can be read of a damaged log into a new one, and say what was dropped')
    .option('-o, --output <file>', 'the new log; default: <id>-repaired.jsonl beside the old one')
    .action(async (log: string, { output }: { readonly output?: string }) => {
      const { repair } = await import('./repair.ts')
      out.say(await repair(log, output))
    })
  withExamples(
    sessions,
    ['loopguard sessions', 'those of the cordis.yml of this folder'],
    ['loopguard sessions --directory logs', 'those of a folder'],
  )
  withExamples(
    show,
    ['loopguard show logs/worker.jsonl', 'the whole session'],
    ['loopguard show logs/worker.jsonl --from 3', 'the third turn and what came after it'],
  )
  withExamples(
    mend,
    ['loopguard repair logs/worker.jsonl', 'writes logs/worker-repaired.jsonl'],
    ['loopguard repair logs/worker.jsonl -o new.jsonl', 'writes new.jsonl'],
  )
}

function parseTurn(text: string): number {
  const turn = Number(text)
  if (!/^\d+$/.test(text) || !(turn >= 1)) throw new InvalidArgumentError('Expected the number of a turn, 1 or more.')
  return turn
}
