import type { Outlet } from '../../show/outlet.ts'
import { readPrices } from '../figures/prices.ts'
import type { ReportOptions } from '../figures/settings.ts'
import { readers } from '../read/readers.ts'
import { reportMany } from './many.ts'
import { reportOne } from './single.ts'
import { isFolder, sourcesOf } from './sources.ts'

/** What the command line asks for. */
export interface Asked {
  /** Files, folders, or `-`. */
  readonly paths: readonly string[]
  readonly options: ReportOptions
  /** A file. */
  readonly prices: string | undefined
  readonly output: string | undefined
  readonly json: boolean
  readonly out: Outlet
  readonly notes: Outlet
}

/**
 * @returns whether all that was asked for could be read.
 * @throws LogFault when the prices or a session alone cannot be read, or a page cannot be written.
 */
export async function report({ paths, prices, ...asked }: Asked): Promise<boolean> {
  const wanted = { ...asked, prices: prices === undefined ? undefined : readPrices(prices), readers: await readers() }
  const [only, ...others] = paths
  if (only === undefined || others.length > 0 || isFolder(only)) return reportMany(sourcesOf(paths), wanted)
  reportOne(only, wanted)
  return true
}
