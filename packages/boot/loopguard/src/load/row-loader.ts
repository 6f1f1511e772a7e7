import { type Context } from '@deepseek-ai/cordis'
import Loader, { EntryTree, Group } from '@deepseek-ai/cordis-plugin-loader'
import { importFrom } from './import-from.ts'
import { findSyntaxError } from './syntax-error.ts'

/**
 * The loader of a composition. Names resolve from the folder of the composition first. Modules load side by side, but rows start in
 * the order of the file, since the order of registration is meaning. Nothing is ever written to a file.
 */
export class RowLoader extends Loader {
  /** Under which plugins without a name of their own log. */
  static override readonly name: string = 'loader'
  /** What went wrong with the import or the start of a row, by the name in it: the loader itself only logs it. */
  readonly failures: Map<string, unknown> = new Map()
  /** Names whose modules are there; their rows may still wait for their turn. */
  readonly imported: Set<string> = new Set()
  private readonly file: string
  private started: Promise<unknown> = Promise.resolve()

  constructor(ctx: Context, { file }: { readonly file: string }) {
    super(ctx)
    this.file = file
    this.builtins['group'] = Group
  }

  override import(name: string): unknown {
    return this.inTurn(this.load(this.file, name))
  }

  private inTurn(imported: Promise<unknown>): Promise<unknown> {
    const before = this.started
    // It may fail before its turn comes.
    imported.catch(() => {})
    const inTurn = before.then(() => imported)
    this.started = inTurn.catch(() => {})
    return inTurn
  }

  private async load(file: string, name: string): Promise<unknown> {
    try {
      const exported = name.startsWith('cordis:') ? builtin(this.builtins, name) : await importFrom(file, name)
      const plugin: unknown = this.unwrapExports(exported)
      if (!isPlugin(plugin)) throw new NotAPlugin(plugin)
      this.imported.add(name)
      return isTree(plugin) ? readOnly(plugin, (treeFile, treeName) => this.inTurn(this.load(treeFile, treeName))) : exported
    } catch (thrown) {
      const error = thrown instanceof SyntaxError ? (findSyntaxError(file, name) ?? thrown) : advised(thrown)
      this.failures.set(name, error)
      throw error
    }
  }
}

/** Node 20 says that it does not know TypeScript, and not what to do about it. */
function advised(thrown: unknown): unknown {
  if (!(thrown instanceof TypeError) || !/^Unknown file extension "\.[cm]?tsx?"/.test(thrown.message)) return thrown
  const message = `${thrown.message}: this Node runs JavaScript only. Name the compiled file, or start with NODE_OPTIONS=--import=tsx`
  return Object.assign(new TypeError(message, { cause: thrown }), { code: (thrown as NodeJS.ErrnoException).code })
}

class NotAPlugin extends Error {
  readonly code = 'NOT_A_PLUGIN'

  constructor(exported: unknown) {
    super(`exports no plugin: expected a function, a class or an object with apply(), got ${shown(exported)}`)
    this.name = 'NotAPlugin'
  }
}

type TreeClass = new (...args: never[]) => EntryTree

/** A plugin that carries rows of its own, from a file of its own, such as an include. */
function isTree(plugin: unknown): plugin is TreeClass {
  return typeof plugin === 'function' && plugin.prototype instanceof EntryTree
}

const readOnlyTrees = new WeakMap<TreeClass, TreeClass>()

function readOnly(tree: TreeClass, load: (file: string, name: string) => Promise<unknown>): TreeClass {
  let safe = readOnlyTrees.get(tree)
  if (safe === undefined) {
    const Base = tree as new (...args: unknown[]) => EntryTree & { filename?: string }
    safe = class extends Base {
      override write(): void {}
      override import(name: string, stack?: () => string[]): unknown {
        return this.filename === undefined ? super.import(name, stack) : load(this.filename, name)
      }
    }
    readOnlyTrees.set(tree, safe)
  }
  return safe
}

function builtin(builtins: Readonly<Record<string, unknown>>, name: string): unknown {
  const found = builtins[name.slice('cordis:'.length)]
  if (found !== undefined) return found
  const known = Object.keys(builtins).map((key) => `"cordis:${key}"`)
  throw Object.assign(new Error(`there is no builtin "${name}", only ${known.join(', ')}`), { code: 'NO_BUILTIN' })
}

function isPlugin(value: unknown): boolean {
  return (
    typeof value === 'function' || (typeof value === 'object' && value !== null && 'apply' in value && typeof value.apply === 'function')
  )
}

function shown(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value)
  const names = Object.keys(value)
  return names.length === 0 ? 'a module without exports' : `exports ${names.join(', ')}`
}
