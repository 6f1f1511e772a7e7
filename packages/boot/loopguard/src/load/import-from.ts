import { sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { moduleResolve } from 'import-meta-resolve'
import { importConditions } from './import-conditions.ts'

/** A name that leads to no module: neither from the composition's folder nor from the command itself. */
class ModuleNotFound extends Error {
  readonly code = 'MODULE_NOT_FOUND'

  constructor(specifier: string, file: string) {
    const folder = file.slice(0, file.lastIndexOf(sep)) || sep
    super(
      isBare(specifier)
        ? `cannot find package "${packageOf(specifier)}": it is installed neither for ${folder} nor beside this command`
        : `cannot find the file "${specifier}" in ${folder}`,
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
  const target = isBare(specifier) ? resolved(file, specifier) : new URL(pathOf(specifier), pathToFileURL(file)).href
  try {
    return (await import(/* @vite-ignore */ target)) as unknown
  } catch (error) {
    if (isAbsent(error, target)) throw new ModuleNotFound(specifier, file)
    throw error
  }
}

/** Where a package is; its bare name, which resolves from here, when the folder of `file` knows none of that name. */
function resolved(file: string, specifier: string): string {
  try {
    return moduleResolve(specifier, pathToFileURL(file), importConditions()).href
  } catch (error) {
    if (isAbsent(error, specifier)) return specifier
    throw error
  }
}

/** Whether an import found nothing at `target` itself, and not at something further down. */
function isAbsent(error: unknown, target: string): boolean {
  if (!(error instanceof Error) || (error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') return false
  const names = target.startsWith('file:') ? [fileURLToPath(target), target] : [packageOf(target)]
  return names.some((name) => error.message.includes(`'${name}'`))
}

/** A path in a URL: an absolute one may hold what has a meaning there. */
function pathOf(specifier: string): string {
  return specifier.startsWith(sep) ? pathToFileURL(specifier).href : specifier
}

function isBare(specifier: string): boolean {
  return !/^(?:\.{0,2}\/|\.{1,2}$|[a-z]+:)/.test(specifier)
}

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}
