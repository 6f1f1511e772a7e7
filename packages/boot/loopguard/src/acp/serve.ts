import { resolve } from 'node:path'
import type { Context } from '@deepseek-ai/cordis'
import { readRows } from '../load/rows.ts'
import { run, type RunOptions } from '../run/run.ts'
import type { AcpOptions } from './command.ts'
import { innerWire, runInner } from './inner-process.ts'
import { acpRows } from './rows.ts'

/** Lets a client drive the agents of a composition. Returns the exit code, if the process that runs them is this one. */
export async function serve(
  path: string,
  { stream, loadLimit, stopLimit, inner }: AcpOptions,
  outlets: Pick<RunOptions, 'out' | 'notes'>,
): Promise<number> {
  // At once: this process has said nothing, and whether its standard output can still be written to is the inner one's affair.
  if (inner === undefined) process.exit(await runInner(innerArgs(path, { stream, loadLimit, stopLimit })))
  const wire = innerWire(inner)
  const file = resolve(path)
  return run({
    file,
    rows: acpRows(await readRows(file), file),
    json: false,
    loadLimitMs: loadLimit,
    stopLimitMs: stopLimit,
    attach(ctx) {
      ctx.provide('acpWire', { ...wire, deltas: stream === true, ready: allStarted(ctx) })
    },
    ...outlets,
  })
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
