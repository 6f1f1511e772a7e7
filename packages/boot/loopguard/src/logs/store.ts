import { basename } from 'node:path'
import { messageOf } from '@loopguard/kit'
import { importFrom } from '../load/import-from.ts'
import { LogFault } from './fault.ts'

/** What the command uses of `@loopguard/session`, which it finds by name as a composition does. */
export interface SessionPackage {
  readonly LogDirectory: new (path: string) => LogDirectory
  readonly checkSessionId: (id: unknown) => string
  salvage(bytes: Uint8Array, id: string): Salvage
  encodeLine(event: unknown): Uint8Array
}

interface LogDirectory {
  read(id: string): Promise<readonly unknown[]>
  stored(): Promise<readonly { readonly id: string; readonly updatedAt: number; readonly title?: string }[]>
}

interface Salvage {
  readonly events: readonly unknown[]
  readonly notes: readonly { readonly line: number; readonly what: string }[]
}

export function sessionPackage(file: string): Promise<SessionPackage> {
  return importFrom(file, '@loopguard/session') as Promise<SessionPackage>
}

export const LOG_ENDING = '.jsonl'

/** The name of a log without its ending. */
export function nameOf(file: string): string {
  const name = basename(file)
  return name.endsWith(LOG_ENDING) ? name.slice(0, -LOG_ENDING.length) : name
}

/** The session that a log is of. @throws LogFault for a file that cannot be a log. */
export function idOf(file: string, check: (id: unknown) => string): string {
  if (!file.endsWith(LOG_ENDING)) throw new LogFault(`${file} must end in ${LOG_ENDING}: the name of a log is the id of its session`)
  try {
    return check(nameOf(file))
  } catch (fault) {
    throw new LogFault(messageOf(fault))
  }
}
