import { join } from 'node:path'
import { compose } from '../src/load/compose.ts'
import { ErrorLog } from '../src/load/error-log.ts'
import { readRows } from '../src/load/rows.ts'
import { folder } from './cli.ts'

export interface Loaded {
  readonly faults: readonly string[]
  readonly notes: readonly string[]
  /** Also what is logged after the load. */
  readonly logged: string
  readonly started: readonly string[]
}

declare global {
  var startedRows: string[]
}

const says = (name: string): string => `export const apply = (ctx, config) => { globalThis.startedRows.push(config?.as ?? '${name}') }`

/** Loads the `cordis.yml` of a folder with these files, in this process; `a.mjs` and `b.mjs` are plugins that say when they start. */
export async function load(files: Readonly<Record<string, string>>, loadLimitMs = 30_000): Promise<Loaded> {
  // The importer of the tests takes no escaped names.
  const path = folder({ 'a.mjs': says('a'), 'b.mjs': says('b'), ...files }, 'loopguard-')
  const file = join(path, 'cordis.yml')
  const notes: string[] = []
  let logged = ''
  globalThis.startedRows = []
  const log = new ErrorLog((line) => (logged += line))
  const error = await readRows(file)
    .then((rows) => compose(rows, { file, loadLimitMs, log, note: (line) => notes.push(line) }))
    .then(
      (ctx) => ctx.fiber.dispose().then(() => undefined),
      (reason: unknown) => reason as Error,
    )
  const lines = (text: string): string[] => text.replaceAll(`${path}/`, '').split('\n')
  return {
    faults: lines(error?.message ?? '').slice(1),
    notes: notes.flatMap(lines),
    get logged() {
      return logged
    },
    started: globalThis.startedRows,
  }
}
