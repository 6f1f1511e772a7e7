import { resolve } from 'node:path'
import type { Command } from 'commander'
import { repair } from './repair.ts'
import { sessionsIn } from './sessions.ts'

/** The commands that look after stored logs. `print` gets what they say. */
export function addLogCommands(program: Command, print: (text: string) => void): void {
  program
    .command('sessions')
    .argument('[cordis.yml]', 'the composition whose sessions they are', 'cordis.yml')
    .description('list the stored sessions, the latest first')
    .option('--directory <folder>', 'the folder of the logs; default: what the row @loopguard/session says')
    .option('--json', 'one JSON object a line: {"id", "updatedAt", "title"}')
    .action(async (path: string, { directory, json }: { readonly directory?: string; readonly json?: true }) => {
      print(await sessionsIn({ file: resolve(path), directory, json: json === true }))
    })
  program
    .command('repair')
    .argument('<log>', 'a session log that does not load')
    .description('write what can be read of a damaged log into a new one, and say what was dropped')
    .option('-o, --output <file>', 'the new log; default: <id>-repaired.jsonl beside the old one')
    .action(async (log: string, { output }: { readonly output?: string }) => {
      print(await repair(log, output))
    })
}
