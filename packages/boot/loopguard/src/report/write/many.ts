import { join, resolve } from 'node:path'
import { LogFault } from '../../logs/fault.ts'
import { analysisOf } from '../figures/analysis.ts'
import { figuresJson } from '../figures/figures-json.ts'
import { counted, size } from '../numbers.ts'
import { type Entry, entryOf, indexPage, type Unread, worstOf } from '../page/index-page.ts'
import { sessionPage } from '../page/session-page.ts'
import { readSession } from '../read/readers.ts'
import type { Session } from '../read/session.ts'
import { lineOf } from './line.ts'
import { PageNames } from './names.ts'
import { Progress } from './progress.ts'
import { writePage } from './page-file.ts'
import { titleOf, type Wanted } from './single.ts'
import type { Source } from './sources.ts'

const FOLDER = 'report'

/**
 * Many sessions: a page for each, and one with all of them. One that cannot be read does not keep the others from theirs.
 *
 * @returns whether all could be read.
 * @throws LogFault when a page cannot be written.
 */
export function reportMany(sources: readonly Source[], wanted: Wanted): boolean {
  const { options, prices, output = FOLDER, json, readers, out, notes } = wanted
  const entries: Entry[] = []
  const unread: Unread[] = []
  const names = new PageNames()
  const progress = new Progress(sources.length, notes)
  const readable = (file: string): Session | undefined => {
    try {
      return readSession(readers, file)
    } catch (fault) {
      if (!(fault instanceof LogFault)) throw fault
      unread.push({ file, why: fault.message })
      return undefined
    }
  }
  let [bytes, calls] = [0, 0]
  const write = (name: string, page: string): void => {
    bytes += Buffer.byteLength(page)
    writePage(resolve(output, name), page)
  }
  for (const { file, name } of sources) {
    progress.next(name)
    const session = readable(file)
    if (session === undefined) continue
    const analysis = analysisOf(name, session, options, prices)
    calls += analysis.calls.length
    if (json) out.say(`${JSON.stringify(figuresJson(file, analysis))}\n`)
    else {
      const page = names.of(name)
      write(page, sessionPage(analysis, options, { file: titleOf(file), index: 'index.html' }))
      entries.push(entryOf(analysis, page))
    }
  }
  progress.end()
  for (const { why } of unread) notes.say(`loopguard: ${why}\n`)
  if (calls === 0 && unread.length === 0) notes.say('warning: no session holds a tool call, so there is nothing that a guard could say\n')
  if (json) return unread.length === 0
  write('index.html', indexPage(entries, unread, options))
  const worst = worstOf(entries)
  const what = worst === undefined ? 'none could be read' : `${worst.name}: ${lineOf(worst.figures)}`
  out.say(`wrote ${join(output, 'index.html')} and ${counted(entries.length, 'page')} (${size(bytes)}): ${what}\n`)
  return unread.length === 0
}
