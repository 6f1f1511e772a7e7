import { dirname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Context } from '@deepseek-ai/cordis'
import { audit } from './audit.ts'
import type { ErrorLog } from './error-log.ts'
import { withCauses } from './explain.ts'
import { CompositionError } from './faults.ts'
import { guardsTwice } from './guard-twice.ts'
import { RowLoader } from './row-loader.ts'
import type { Row } from './rows.ts'
import { takenLiterally } from './taken-literally.ts'
import { settlesWithin, UNLOAD_LIMIT_MS } from './time-limit.ts'

export interface ComposeOptions {
  /** The file that the rows stand for: names resolve from its folder, and configurations read paths relative to it. */
  readonly file: string
  /** How long rows may take to become active, in milliseconds. */
  readonly loadLimitMs: number
  readonly log: ErrorLog
  /** Called with the fresh context, before any row loads: the place for listeners that are to miss nothing. */
  readonly attach?: (ctx: Context) => void
  /** Told, in one line each, what may be meant so and is no fault. */
  readonly note?: (line: string) => void
}

/**
 * Starts every row on a fresh context.
 * @throws CompositionError that names every row which did not become active; what did start is being unloaded then.
 */
export async function compose(rows: readonly Row[], options: ComposeOptions): Promise<Context> {
  const { file, loadLimitMs, log, attach, note } = options
  const ctx = new Context()
  ctx.baseUrl = `${pathToFileURL(dirname(file)).href}/`
  log.attach(ctx)
  attach?.(ctx)
  await ctx.plugin(RowLoader, { file })
  const loader = ctx.get('loader') as RowLoader
  const isSettled = await settlesWithin(loadLimitMs, load(loader, rows))
  const twice = guardsTwice(loader.entries())
  const faults = [...(await audit(loader, isSettled ? undefined : loadLimitMs)), ...twice.faults]
  log.release(faults.reduce((reported, { error }) => withCauses(error, reported), new Set<unknown>()))
  // Of rows that failed as well: it may be why.
  for (const line of [...twice.notes, ...takenLiterally(loader.entries())]) note?.(line)
  if (faults.length === 0) return ctx
  // Bounded: a row that hangs while it loads hangs while it unloads, too.
  await settlesWithin(UNLOAD_LIMIT_MS, ctx.fiber.dispose())
  throw new CompositionError(file, faults)
}

async function load(loader: RowLoader, rows: readonly Row[]): Promise<void> {
  await loader.start(loader.root, () => rows)
  await loader.await()
}
