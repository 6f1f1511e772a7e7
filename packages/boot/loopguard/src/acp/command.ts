import { type Command, InvalidArgumentError, Option } from 'commander'
import type { RunOptions } from '../run/run.ts'
import { withExamples } from '../usage/examples.ts'

const LOAD_LIMIT_MS = 30_000
const STOP_LIMIT_MS = 5_000

export interface AcpOptions {
  readonly stream?: true
  readonly loadLimit: number
  readonly stopLimit: number
  readonly inner?: string
}

/** The command that an editor starts. What it says beside the protocol goes to standard error. */
export function addAcpCommand(program: Command, outlets: Pick<RunOptions, 'out' | 'notes'>, done: (code: number) => void): void {
  const acp = program
    .command('acp')
    .argument('[cordis.yml]', 'the composition', 'cordis.yml')
    .description('let an editor drive the agents of a composition, by the Agent Client Protocol over standard input and output')
    .option('--stream', 'send text as the model says it; what a failed request has said stays on the screen')
    .option('--load-limit <ms>', 'how long the rows may take to start', parseLimit, LOAD_LIMIT_MS)
    .option('--stop-limit <ms>', 'how long calls may take to stop when the editor leaves, or after a signal', parseLimit, STOP_LIMIT_MS)
    .addOption(new Option('--inner <pid>').hideHelp())
    .action(async (path: string, options: AcpOptions) => {
      const { serve } = await import('./serve.ts')
      done(await serve(path, options, outlets))
    })
  withExamples(
    acp,
    ['loopguard acp', 'what an editor starts: the cordis.yml of the folder that it starts it in'],
    ['loopguard acp /home/me/agent/cordis.yml', 'that one, wherever it is started'],
  )
}

function parseLimit(text: string): number {
  const limit = Number(text)
  if (!(limit >= 1 && limit <= 2_147_483_647)) throw new InvalidArgumentError('Expected milliseconds, 1 to 2147483647.')
  return limit
}
