import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf } from '@loopguard/kit'
import type { SessionId } from '@loopguard/llm'
import type { StoredSession } from './backend.ts'
import { readFailed } from './failures.ts'
import { checkSessionId } from './ids.ts'
import { eventsOf } from './read-log.ts'
import { titleOf } from './title.ts'

export const LOG_ENDING = '.jsonl'

/** The logs of a directory, the latest first. */
export async function storedIn(directory: string): Promise<StoredSession[]> {
  const names = await readdir(directory).catch((cause: unknown) => {
    throw readFailed(directory, cause)
  })
  const found: StoredSession[] = []
  for (const name of names) {
    const id = idOf(name)
    const stored = id === undefined ? undefined : await look(join(directory, name), id)
    if (stored !== undefined) found.push(stored)
  }
  return found.sort((a, b) => b.updatedAt - a.updatedAt)
}

function idOf(name: string): SessionId | undefined {
  if (!name.endsWith(LOG_ENDING)) return undefined
  try {
    return checkSessionId(name.slice(0, -LOG_ENDING.length))
  } catch {
    return undefined
  }
}

/** Undefined for a file that holds no session: it is empty, or gone since. One that is damaged is listed as far as it can be. */
async function look(file: string, id: SessionId): Promise<StoredSession | undefined> {
  let title: string | undefined
  let isEmpty = true
  let updatedAt = 0
  try {
    const stats = await stat(file)
    updatedAt = Math.floor(stats.mtimeMs)
    for await (const { type, data } of eventsOf(file, id)) {
      isEmpty = false
      title = titleOf(type, data)
      if (title !== undefined) break
    }
  } catch (fault) {
    if (codeOf(fault) === 'ENOENT') return undefined
    isEmpty = false
  }
  return isEmpty ? undefined : { id, updatedAt, ...(title !== undefined && { title }) }
}
