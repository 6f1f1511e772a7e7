import { EntryTree } from '@deepseek-ai/cordis-plugin-loader'

export class NotAPlugin extends Error {
  readonly code = 'NOT_A_PLUGIN'

  constructor(exported: unknown) {
    super(`exports no plugin: expected a function, a class or an object with apply(), got ${shown(exported)}`)
    this.name = 'NotAPlugin'
  }
}

export function isPlugin(value: unknown): boolean {
  return (
    typeof value === 'function' || (typeof value === 'object' && value !== null && 'apply' in value && typeof value.apply === 'function')
  )
}

type TreeClass = new (...args: never[]) => EntryTree

/** A plugin that carries rows of its own, from a file of its own, as an include does. */
export function isTree(plugin: unknown): plugin is TreeClass {
  return typeof plugin === 'function' && plugin.prototype instanceof EntryTree
}

const readOnlyTrees = new WeakMap<TreeClass, TreeClass>()

/** The same tree, which writes nothing, and whose names resolve from its file. */
export function readOnly(tree: TreeClass, load: (file: string, name: string) => Promise<unknown>): TreeClass {
  let safe = readOnlyTrees.get(tree)
  if (safe === undefined) {
    const Base = tree as new (...args: unknown[]) => EntryTree & { filename?: string }
    safe = class extends Base {
      static override readonly name = tree.name
      override write(): void {}
      override import(name: string, stack?: () => string[]): unknown {
        return this.filename === undefined ? super.import(name, stack) : load(this.filename, name)
      }
    }
    readOnlyTrees.set(tree, safe)
  }
  return safe
}

function shown(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value)
  const names = Object.keys(value)
  return names.length === 0 ? 'a module without exports' : `exports ${names.join(', ')}`
}
