import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { codeOf, messageOf } from '@loopguard/kit'
import { LogFault } from './fault.ts'
import { idOf, LOG_ENDING, nameOf, sessionPackage } from './store.ts'

/**
 * Writes what can be salvaged of a damaged log into a log of its own, and says line by line what was dropped and what was put in.
 * The original is read and nothing else.
 * @throws LogFault when the log cannot be read, nothing of it can be salvaged, or the new one cannot be written.
 */
export async function repair(log: string, out: string | undefined): Promise<string> {
  const from = resolve(log)
  const to = resolve(out ?? join(dirname(from), `${nameOf(from)}-repaired${LOG_ENDING}`))
  const session = await sessionPackage(from)
  const id = idOf(to, session.checkSessionId)
  const { events, notes } = session.salvage(contentOf(from), id)
  if (events.length === 0) throw new LogFault(`${from} holds no event that can be read; nothing was written`)
  write(
    to,
    events.map((event) => session.encodeLine(event)),
  )
  // The promise of this command: what it writes can be loaded.
  await new session.LogDirectory(dirname(to)).read(id)
  const told = notes.map(({ line, what }) => `${basename(from)}:${line}: ${what}\n`).join('')
  const count = (start: string): number => notes.filter(({ what }) => what.startsWith(start)).length
  return `${told}wrote ${to}: ${events.length} events, ${count('dropped')} dropped, ${count('added')} added; the original is as it was\n`
}

function contentOf(file: string): Uint8Array {
  try {
    return readFileSync(file)
  } catch (fault) {
    throw new LogFault(`${file} cannot be read: ${messageOf(fault)}`)
  }
}

/** Never over a file that is there. */
function write(file: string, lines: readonly Uint8Array[]): void {
  try {
    const fd = openSync(file, 'wx')
    try {
      for (const line of lines) for (let done = 0; done < line.length;) done += writeSync(fd, line, done)
    } finally {
      closeSync(fd)
    }
  } catch (fault) {
    if (codeOf(fault) === 'EEXIST') throw new LogFault(`${file} is there already; choose another with -o`)
    throw new LogFault(`${file} cannot be written: ${messageOf(fault)}`)
  }
}
