import { resolve } from 'node:path'
import type { Context } from '@deepseek-ai/cordis'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { readRows } from '../load/rows.ts'
import { run, type RunOptions } from '../run/run.ts'
import { withExamples } from '../usage/examples.ts'
import { innerWire, runInner } from './inner-process.ts'
import { acpRows } from './rows.ts'

const LOAD_LIMIT_MS = 30_000
const STOP_LIMIT_MS = 5_000

interface AcpOptions {
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
    .action(async (path: string, { stream, loadLimit, stopLimit, inner }: AcpOptions) => {
      // At once: this process has said nothing, and whether its standard output can still be written to is the inner one's affair.
      if (inner === undefined) process.exit(await runInner(innerArgs(path, { stream, loadLimit, stopLimit })))
      const wire = innerWire(inner)
      const file = resolve(path)
      done(
        await run({
          file,
          rows: acpRows(await readRows(file), file),
          json: false,
          loadLimitMs: loadLimit,
          stopLimitMs: stopLimit,
          attach(ctx) {
            ctx.provide('acpWire', { ...wire, deltas: stream === true, ready: allStarted(ctx) })
          },
          ...outlets,
        }),
      )
    })
  withExamples(
    acp,
    ['loopguard acp', 'what an editor starts: the cordis.yml of the folder that it starts it in'],
    ['loopguard acp /home/me/agent/cordis.yml', 'that one, wherever it is started'],
  )
}

/** An editor is not to talk to half a composition. */
function allStarted(ctx: Context): Promise<void> {
  return new Promise((resolve) => {
    ;(ctx.on as unknown as (name: string, heard: () => void) => void).call(ctx, 'loopguard/ready', resolve)
  })
}

function innerArgs(path: string, { stream, loadLimit, stopLimit }: { [K in keyof AcpOptions]: AcpOptions[K] | undefined }): string[] {
  const limits = [`--load-limit=${loadLimit}`, `--stop-limit=${stopLimit}`]
  return ['acp', `--inner=${process.pid}`, ...(stream === true ? ['--stream'] : []), ...limits, '--', path]
}

function parseLimit(text: string): number {
  const limit = Number(text)
  if (!(limit >= 1 && limit <= 2_147_483_647)) throw new InvalidArgumentError('Expected milliseconds, 1 to 2147483647.')
  return limit
}
