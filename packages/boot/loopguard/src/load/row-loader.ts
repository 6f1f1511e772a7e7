import { type Context, Service } from '@deepseek-ai/cordis'
import Loader, { type Entry, type EntryGroup, EntryTree, Group } from '@deepseek-ai/cordis-plugin-loader'
import { importFrom } from './import-from.ts'
import { Include, INCLUDE, type IncludeHost } from './include.ts'
import { isPlugin, isTree, NotAPlugin, readOnly } from './plugin-kinds.ts'
import type { Row } from './rows.ts'
import { findSyntaxError } from './syntax-error.ts'
import { type TurnList, Turns } from './turns.ts'

/**
 * The loader of a composition. Names resolve from the folder of the composition first. Modules load side by side, but rows start in
 * the order of the file, since the order of registration is meaning; in between, timers and signals have their turn. Nothing is ever
 * written to a file.
 */
export class RowLoader extends Loader implements IncludeHost {
  /** Under which plugins without a name of their own log. */
  static override readonly name: string = 'loader'
  private readonly file: string
  /** What went wrong with an import, by the file and the name in it: the loader itself only logs it. */
  private readonly importFailures = new Map<string, unknown>()
  /** What went wrong with the start of a row. */
  private readonly startFailures = new Map<object, unknown>()
  private readonly imported = new Set<string>()
  private readonly turns = new Turns()
  /** The list whose row is being created. */
  private list: TurnList | undefined
  private lastTask: Promise<void> | undefined
  private leftOut = 0

  constructor(ctx: Context, { file }: { readonly file: string }) {
    super(ctx)
    this.file = file
    this.builtins['group'] = RowGroup
  }

  /**
   * Starts the rows of a list, and waits until each has been started; one that fails to start is kept in mind. Rows of lists that are
   * begun later start later, however long it takes to read this one.
   */
  async start(group: EntryGroup, read: () => readonly Row[] | Promise<readonly Row[]>): Promise<void> {
    const list = this.turns.begin()
    try {
      await Promise.all(await this.createAll(group, await read(), list))
    } finally {
      list.close()
    }
  }

  private async createAll(group: EntryGroup, rows: readonly Row[], list: TurnList): Promise<Promise<unknown>[]> {
    const created: Promise<unknown>[] = []
    group.data = [...rows]
    this.leftOut += rows.length
    for (const row of rows) {
      this.leftOut--
      this.list = list
      // It asks for its import before it first waits for anything.
      created.push(group.create(row).catch((error: unknown) => this.startFailures.set(row, error)))
      this.list = undefined
      await this.turns.rest()
    }
    list.close()
    return created
  }

  /** How many rows there are that have no entry yet. */
  get left(): number {
    return this.leftOut
  }

  /** Why a row has no fiber, if it is known. */
  failureOf(entry: Entry): unknown {
    return this.startFailures.get(entry.options) ?? this.importFailures.get(keyOf(this.fileOf(entry), entry.options.name))
  }

  /** Whether the module of a row is there; the row may still wait for its turn. */
  isImported(entry: Entry): boolean {
    return this.imported.has(keyOf(this.fileOf(entry), entry.options.name))
  }

  /** The files that a row stands in: its own, and those that include it, innermost first. */
  filesAround(entry: Entry | undefined): string[] {
    return entry === undefined ? [] : [this.fileOf(entry), ...this.filesAround(entry.parent.tree.ctx.fiber.entry)]
  }

  /**
   * Cordis asks for these after each row, and counts all rows for it each time. One that is still running answers what is asked:
   * whether there are any.
   */
  override getTasks(): Promise<void>[] {
    if (this.lastTask !== undefined) return [this.lastTask]
    const tasks = super.getTasks()
    const last = tasks.at(-1)
    const isOver = (): void => {
      if (this.lastTask === last) this.lastTask = undefined
    }
    this.lastTask = last
    last?.then(isOver, isOver)
    return tasks
  }

  override import(name: string): unknown {
    return this.importInTurn(this.file, name)
  }

  /** Imports at once, as from `file`, and settles when the rows before have started. */
  importInTurn(file: string, name: string): Promise<unknown> {
    const list = this.list ?? this.turns.begin()
    const inTurn = list.take(this.load(file, name))
    if (this.list === undefined) list.close()
    return inTurn
  }

  private async load(file: string, name: string): Promise<unknown> {
    try {
      const exported = name.startsWith('cordis:') ? builtin(this.builtins, name) : name === INCLUDE ? Include : await importFrom(file, name)
      const plugin: unknown = this.unwrapExports(exported)
      if (!isPlugin(plugin)) throw new NotAPlugin(plugin)
      this.imported.add(keyOf(file, name))
      const isForeignTree = isTree(plugin) && plugin !== Include
      return isForeignTree ? readOnly(plugin, (treeFile, treeName) => this.importInTurn(treeFile, treeName)) : exported
    } catch (thrown) {
      const error = thrown instanceof SyntaxError ? (findSyntaxError(file, name) ?? thrown) : advised(thrown)
      this.importFailures.set(keyOf(file, name), error)
      throw error
    }
  }

  private fileOf({ parent: { tree } }: Entry): string {
    return (tree as EntryTree & { readonly filename?: string }).filename ?? this.file
  }
}

/** The builtin `cordis:group`, with its rows in order and their faults kept in mind. */
class RowGroup extends Group {
  override async *[Service.init](): AsyncGenerator<() => void, void, void> {
    yield () => this.stop()
    await (this.ctx.get('loader') as RowLoader).start(this, () => this.config as Row[])
  }
}

/** Node before 22.18 says that it does not know TypeScript, and not what to do about it. */
function advised(thrown: unknown): unknown {
  if (!(thrown instanceof TypeError) || !/^Unknown file extension "\.[cm]?tsx?"/.test(thrown.message)) return thrown
  const message = `${thrown.message}: this Node runs JavaScript only. Name the compiled file, or start with NODE_OPTIONS=--import=tsx`
  return Object.assign(new TypeError(message, { cause: thrown }), { code: (thrown as NodeJS.ErrnoException).code })
}

function keyOf(file: string, name: string): string {
  return `${file}\n${name}`
}

function builtin(builtins: Readonly<Record<string, unknown>>, name: string): unknown {
  const found = builtins[name.slice('cordis:'.length)]
  if (found !== undefined) return found
  const known = Object.keys(builtins).map((key) => `"cordis:${key}"`)
  throw Object.assign(new Error(`there is no builtin "${name}", only ${known.join(', ')}`), { code: 'NO_BUILTIN' })
}
