import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Context } from '@deepseek-ai/cordis'
import { readRows } from '../load/rows.ts'
import { LogFault } from '../logs/fault.ts'
import { EXIT } from '../run/exit-codes.ts'
import { run, type RunOptions } from '../run/run.ts'
import type { PageWriter } from './chat.ts'
import { ADVICE } from './chosen-agent.ts'
import type { ChatFlags } from './command.ts'
import { ChatFront } from './front.ts'
import { chatRows } from './rows.ts'

const LOAD_LIMIT_MS = 30_000
/** Who leaves does not want to wait. */
const STOP_LIMIT_MS = 2000

/**
 * Lets a person talk to an agent of the composition at `path`, until one of them leaves. Returns the exit code.
 * @throws LogFault when there is nothing to talk to.
 */
export async function converse(
  path: string,
  { agent, resume, model }: ChatFlags,
  outlets: Pick<RunOptions, 'out' | 'notes'>,
  page: PageWriter,
): Promise<number> {
  const file = resolve(path)
  if (!existsSync(file)) throw new LogFault(`there is no ${file}. ${ADVICE}`)
  const rows = chatRows(await readRows(file), model)
  const front = new ChatFront({ choice: { agent, resume }, ...outlets, page })
  const attach = (ctx: Context): void => front.attach(ctx)
  const code = await run({
    file,
    rows,
    json: false,
    loadLimitMs: LOAD_LIMIT_MS,
    stopLimitMs: STOP_LIMIT_MS,
    prompt: false,
    attach,
    ...outlets,
  })
  if (front.fault === undefined || code !== EXIT.completed) return code
  throw front.fault
}
