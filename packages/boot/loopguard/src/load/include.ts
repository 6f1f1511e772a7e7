import { realpathSync } from 'node:fs'
import { dirname, extname, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { type Context, Service } from '@deepseek-ai/cordis'
import type { PatchOptions } from '@deepseek-ai/cordis-plugin-include'
import { type Entry, EntryGroup, EntryTree } from '@deepseek-ai/cordis-plugin-loader'
import { keyHint } from '@loopguard/kit'
import { CompositionError, type Fault } from './faults.ts'
import { isText, shown } from './row-keys.ts'
import { checkedRows, readRows, type Row } from './rows.ts'

/** The package of which {@link Include} is the command's own form. */
export const INCLUDE = '@deepseek-ai/cordis-plugin-include'

const KEYS = ['path', 'initial', 'patches', 'enableLogs']

interface Config {
  readonly path: string
  /** The rows when there is no such file. They are not written to it. */
  readonly initial?: unknown
  readonly patches?: PatchOptions[]
}

/** What an include asks of the loader of the composition. */
export interface IncludeHost {
  start(group: EntryGroup, read: () => Promise<readonly Row[]>): Promise<void>
  importInTurn(file: string, name: string): Promise<unknown>
  filesAround(entry: Entry | undefined): string[]
}

/**
 * The rows of another file. It takes the configuration of Cordis' own include, but reads the file as the command reads a
 * composition: each fault has its place, rows without an id have the same one in each run, and the file is never written.
 */
class IncludedRows extends EntryTree {
  /** Under which plugins without a name of their own log. */
  static override readonly name: string = 'include'
  /** Its configuration holds rows, whose expressions are theirs. */
  static readonly [EntryGroup.key] = true
  readonly filename: string
  private readonly config: Config

  constructor(ctx: Context, config: unknown) {
    super(ctx)
    this.config = checkedConfig(config, this.including)
    this.filename = resolve(fileURLToPath(ctx.baseUrl ?? ''), this.config.path)
    this.ctx.baseUrl = pathToFileURL(`${dirname(this.filename)}/`).href
  }

  async *[Service.init](): AsyncGenerator<() => void, void, void> {
    this.refuseCycle()
    yield () => this.root.stop()
    await this.loader.start(this.root, async () => await this.patched(await this.read()))
  }

  override import(name: string): unknown {
    return this.loader.importInTurn(this.filename, name)
  }

  write(): void {}

  private get loader(): IncludeHost {
    return this.ctx.get('loader') as unknown as IncludeHost
  }

  /** The row that includes the file. */
  private get including(): Entry | undefined {
    return this.ctx.fiber.entry
  }

  private async read(): Promise<Row[]> {
    const { path, initial } = this.config
    if (!['.yml', '.yaml', '.json'].includes(extname(this.filename)))
      throw this.fault(`expected \`path\` to end in .yml, .yaml or .json, got "${path}"`)
    try {
      return await readRows(this.filename)
    } catch (error) {
      const isMissing = error instanceof CompositionError && error.faults.some((fault) => isAbsent(fault))
      if (!isMissing) throw error
      if (initial === undefined) throw this.fault(`config file not found: ${this.filename}`)
      return checkedRows(initial, this.ofRow('initial'))
    }
  }

  /** The rows after the patches of the including row, each of which must find what it is for. */
  private async patched(rows: Row[]): Promise<Row[]> {
    const { patches } = this.config
    if (patches === undefined || patches.length === 0) return rows
    // It comes with a reader of YAML of its own, which nothing else needs.
    const { applyEntryPatches } = await import('@deepseek-ai/cordis-plugin-include')
    const missed: string[] = []
    const patched = applyEntryPatches(rows, patches, (message, ...args) => {
      missed.push(args.reduce<string>((text, arg) => text.replace('%C', `"${String(arg)}"`), message))
    })
    if (missed.length > 0) throw this.fault(missed.join('\n'))
    return checkedRows(patched, this.ofRow('patches'), [], 'patched')
  }

  /** A file that includes itself, however far around, would never have read all of its rows. */
  private refuseCycle(): void {
    const files = [this.filename, ...this.loader.filesAround(this.including)].map(real)
    const again = files.indexOf(files[0] ?? '', 1)
    if (again < 0) return
    const [first, ...rest] = files.slice(0, again + 1).toReversed()
    throw this.fault(`a cycle of includes: ${[first, ...rest.map((file) => `includes ${file}`)].join(', which ')}`)
  }

  private fault(cause: string): CompositionError {
    return faultOf(this.including, cause)
  }

  private ofRow(key: string): { file: string; placeOf: () => undefined; placeOfKey: () => undefined } {
    return { file: `${this.including?.options.name ?? INCLUDE}: \`${key}\``, placeOf: () => undefined, placeOfKey: () => undefined }
  }
}

export const Include: new (ctx: Context, config: unknown) => EntryTree = IncludedRows

function checkedConfig(config: unknown, row: Entry | undefined): Config {
  if (typeof config !== 'object' || config === null || Array.isArray(config))
    throw faultOf(row, `expected \`config\` to be a map with a \`path\`, got ${shown(config)}`)
  const given = config as Readonly<Record<string, unknown>>
  for (const [key, value] of Object.entries(given))
    if (!KEYS.includes(key)) throw faultOf(row, `unknown key \`${key}\` (with the value ${shown(value)})${keyHint(key, KEYS)}`)
  const { path, patches } = given
  if (!isText(path)) throw faultOf(row, `expected \`path\` to be the name of a file, got ${shown(path)}`)
  if (patches !== undefined && !Array.isArray(patches)) throw faultOf(row, `expected \`patches\` to be a list, got ${shown(patches)}`)
  return given as unknown as Config
}

/** The place and the row are known to the one who hears of it. */
function faultOf(row: Entry | undefined, cause: string): CompositionError {
  return new CompositionError(row?.options.name ?? INCLUDE, [{ cause }])
}

function isAbsent({ error }: Fault): boolean {
  return (error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT'
}

function real(file: string): string {
  try {
    return realpathSync(file)
  } catch {
    return file
  }
}
