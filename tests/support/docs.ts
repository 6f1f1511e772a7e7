import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

/** Folder URL of the repository. */
export const root: URL = new URL('../../', import.meta.url)

/** A page of the repository; `path` is relative to its root. */
export interface Page {
  readonly path: string
  readonly text: string
}

export function read(path: string): Promise<string> {
  return readFile(new URL(path, root), 'utf8')
}

const PASSED_BY = new Set(['node_modules', 'lib', 'coverage', '.git', '.tmp', '.changeset', 'api'])

/** Paths of all files below a folder of the repository, built and installed ones left out. */
export async function filesBelow(folder: string, ending: string): Promise<string[]> {
  const entries = await readdir(fileURLToPath(new URL(folder, root)), { withFileTypes: true })
  const found = await Promise.all(
    entries.map(async (entry) => {
      if (entry.isDirectory()) return PASSED_BY.has(entry.name) ? [] : filesBelow(`${folder}${entry.name}/`, ending)
      return entry.name.endsWith(ending) ? [`${folder}${entry.name}`] : []
    }),
  )
  return found.flat()
}

async function pagesBelow(folder: string): Promise<Page[]> {
  const paths = await filesBelow(folder, '.md')
  return Promise.all(paths.map(async (path) => ({ path, text: await read(path) })))
}

/** The pages of `docs/`. */
export const docs = (): Promise<Page[]> => pagesBelow('docs/')

/** Every page of the repository. */
export const pages = (): Promise<Page[]> => pagesBelow('./')
