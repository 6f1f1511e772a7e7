import { readdirSync, statSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { messageOf } from '@loopguard/kit'
import { LogFault } from '../../logs/fault.ts'
import { nameOf } from './names.ts'

/** A file to be read, and what its session is called. */
export interface Source {
  readonly file: string
  readonly name: string
}

const LOGS = /\.(?:jsonl|ndjson|json)$/i

export function isFolder(path: string): boolean {
  return path !== '-' && statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

/**
 * The files that were named, and of a folder the logs in it and below.
 * @throws LogFault for a folder that cannot be read or holds none.
 */
export function sourcesOf(paths: readonly string[]): Source[] {
  return paths.flatMap((path) => (isFolder(path) ? sourcesIn(path) : [{ file: path, name: nameOf(path) }]))
}

function sourcesIn(folder: string): Source[] {
  const files = filesBelow(folder)
  if (files.length === 0) throw new LogFault(`${folder} holds no session: no file in it or below ends in .jsonl, .ndjson or .json`)
  return files.map((file) => {
    const path = relative(folder, file).split(sep)
    return { file, name: [...path.slice(0, -1), nameOf(file)].join('/') }
  })
}

/** In order. What is hidden, installed or linked to is passed over, so that nothing is read twice. */
function filesBelow(folder: string): string[] {
  let entries
  try {
    entries = readdirSync(folder, { withFileTypes: true })
  } catch (fault) {
    throw new LogFault(`${folder} cannot be read: ${messageOf(fault)}`)
  }
  return entries
    .filter(({ name }) => !name.startsWith('.') && name !== 'node_modules')
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) return filesBelow(path)
      return entry.isFile() && LOGS.test(entry.name) ? [path] : []
    })
}
