import { basename, resolve } from 'node:path'
import type { Outlet } from '../../show/outlet.ts'
import { analysisOf } from '../figures/analysis.ts'
import type { Figures } from '../figures/figures.ts'
import { figuresJson } from '../figures/figures-json.ts'
import type { Prices } from '../figures/prices.ts'
import type { ReportOptions } from '../figures/settings.ts'
import { size } from '../numbers.ts'
import { sessionPage } from '../page/session-page.ts'
import { type Readers, readSession } from '../read/readers.ts'
import { lineOf } from './line.ts'
import { nameOf } from './names.ts'
import { writePage } from './page-file.ts'

/** How a report is to be made. */
export interface Wanted {
  readonly options: ReportOptions
  readonly prices: Prices | undefined
  /** The file, or for many sessions the folder. */
  readonly output: string | undefined
  readonly json: boolean
  readonly readers: Readers
  readonly out: Outlet
  readonly notes: Outlet
}

/** One session: a page of its own. @throws LogFault when it cannot be read, or the page cannot be written. */
export function reportOne(file: string, wanted: Wanted): void {
  const { options, prices, output, json, readers, out, notes } = wanted
  const analysis = analysisOf(nameOf(file), readSession(readers, file), options, prices)
  if (analysis.calls.length === 0)
    notes.say(`warning: ${file === '-' ? 'standard input' : file} holds no tool call, so there is nothing that a guard could say\n`)
  if (json) {
    out.say(`${JSON.stringify(figuresJson(file, analysis))}\n`)
    return
  }
  warnOfPrices(analysis.figures, notes)
  const target = output ?? `${nameOf(file)}.html`
  const page = sessionPage(analysis, options, { file: titleOf(file) })
  writePage(resolve(target), page)
  out.say(`wrote ${target} (${size(Buffer.byteLength(page))}): ${lineOf(analysis.figures)}\n`)
}

function warnOfPrices({ cost }: Figures, notes: Outlet): void {
  if (cost !== undefined && cost.unpriced.length > 0) notes.say(`warning: no price is given for ${cost.unpriced.join(', ')}\n`)
}

/** What a page calls the file that it was made of. */
export function titleOf(file: string): string {
  return file === '-' ? 'standard input' : basename(file)
}
