import { Module } from 'node:module'
import { sep } from 'node:path'
import { pathToFileURL } from 'node:url'

type Importer = (specifier: string) => Promise<unknown>

/** A name that leads to no module: neither from the composition's folder nor from the command itself. */
class ModuleNotFound extends Error {
  readonly code = 'MODULE_NOT_FOUND'

  constructor(specifier: string, folder: string, cause: unknown) {
    super(
      isBare(specifier)
        ? `cannot find package "${packageOf(specifier)}": it is installed neither for ${folder} nor beside this command`
        : `cannot find the file "${specifier}" in ${folder}`,
      { cause },
    )
    this.name = 'ModuleNotFound'
  }
}

/**
 * Imports as a module that stands at `file` would: relative names from its folder, packages from its `node_modules` upwards, under
 * the import conditions of this process. A package that is not found there is looked for beside this command.
 * @throws ModuleNotFound, or what the module throws while it is evaluated.
 */
export async function importFrom(file: string, specifier: string): Promise<unknown> {
  try {
    return await importerAt(file)(specifier)
  } catch (error) {
    if (!isUnresolved(error, file)) throw error
    if (!isBare(specifier)) throw new ModuleNotFound(specifier, folderOf(file), undefined)
    return importHere(specifier, file)
  }
}

async function importHere(specifier: string, file: string): Promise<unknown> {
  try {
    return (await import(/* @vite-ignore */ specifier)) as unknown
  } catch (error) {
    if (codeOf(error) === 'ERR_MODULE_NOT_FOUND' && messageOf(error).includes(`'${packageOf(specifier)}'`))
      throw new ModuleNotFound(specifier, folderOf(file), undefined)
    throw error
  }
}

const importers = new Map<string, Importer>()

/**
 * Node has no public `import(specifier, parent)`, and `require.resolve` knows the conditions of CommonJS only. But an `import()`
 * resolves from the file that holds it, and a CommonJS module can be compiled under any name, without touching the disk.
 */
function importerAt(file: string): Importer {
  let importer = importers.get(file)
  if (importer === undefined) {
    const module = new Module(file) as Module & { _compile(source: string, file: string): unknown }
    module._compile('module.exports = (specifier) => import(specifier)', file)
    importers.set(file, (importer = module.exports as Importer))
  }
  return importer
}

/** Whether it is the import in `file` that led nowhere, and not one further down. */
function isUnresolved(error: unknown, file: string): boolean {
  if (codeOf(error) !== 'ERR_MODULE_NOT_FOUND') return false
  const message = messageOf(error)
  return message.includes(`imported from ${file}`) || message.includes(`imported from ${pathToFileURL(file).href}`)
}

function isBare(specifier: string): boolean {
  return !/^(?:\.{0,2}\/|\.{1,2}$|[a-z]+:)/.test(specifier) && !specifier.startsWith(sep)
}

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

function folderOf(file: string): string {
  return file.slice(0, file.lastIndexOf(sep)) || sep
}

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown } | null | undefined)?.code
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
