import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { readRows } from '../load/rows.ts'
import { LogFault } from './fault.ts'
import { sessionPackage } from './store.ts'

export interface SessionsOptions {
  /** The composition whose session row names the folder, unless `directory` does. */
  readonly file: string
  readonly directory?: string | undefined
  readonly json: boolean
}

/**
 * The stored sessions of a folder, the latest first: one line each.
 * @throws LogFault when no folder is named, or there is none.
 */
export async function sessionsIn({ file, directory, json }: SessionsOptions): Promise<string> {
  const path = resolve(directory ?? (await configured(file)))
  if (!existsSync(path) || !statSync(path).isDirectory()) throw new LogFault(`there is no folder ${path}`)
  const { LogDirectory } = await sessionPackage(file)
  const stored = await new LogDirectory(path).stored()
  if (json) return stored.map((session) => `${JSON.stringify(session)}\n`).join('')
  if (stored.length === 0) return `no sessions in ${path}\n`
  const width = Math.max(...stored.map(({ id }) => id.length))
  return stored.map(({ id, updatedAt, title = '' }) => `${timeOf(updatedAt)}  ${id.padEnd(width)}  ${title}`.trimEnd() + '\n').join('')
}

async function configured(file: string): Promise<string> {
  const hint = `give --directory, or a cordis.yml whose row @loopguard/session has a directory`
  if (!existsSync(file)) throw new LogFault(`no folder of sessions: ${hint}`)
  const row = (await readRows(file)).find(({ name }) => name === '@loopguard/session')
  const { directory } = Object(row?.config) as { readonly directory?: unknown }
  if (typeof directory !== 'string') throw new LogFault(`${file} keeps its sessions in memory: ${hint}`)
  return directory
}

/** In local time, to the minute. */
function timeOf(ms: number): string {
  const date = new Date(ms)
  const two = (value: number): string => String(value).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}`
}
