import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PageWriter } from './chat.ts'

/**
 * Draws a session as `loopguard report` does, into the current folder. What that says is printed as it prints it.
 * @param run - the command line.
 */
export function pageWriter(run: (args: readonly string[]) => Promise<number>): PageWriter {
  return async ({ id, session }) => {
    const page = ['-o', `${id}.html`]
    if (session.location !== undefined) return void (await run(['report', session.location, ...page]))
    const folder = mkdtempSync(join(tmpdir(), 'loopguard-'))
    try {
      const log = join(folder, `${id}.jsonl`)
      writeFileSync(log, session.events.map((event) => `${JSON.stringify(event)}\n`).join(''))
      await run(['report', log, ...page])
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
}
