import type { Analysis } from '../figures/analysis.ts'
import { runsOf } from '../draw/bars.ts'
import { sceneOf, timelineOf } from '../draw/timeline.ts'
import { Cutter } from './cutter.ts'
import { html, type Html, visible } from './html.ts'
import { markupOf, rowOf, titleOf } from './rows.ts'
import { sharedBar } from './sections.ts'
import { painted } from './svg.ts'

/** The pictures and the table of a page, and what its scripts read. */
export interface Drawn {
  readonly strip: Html
  readonly timeline: Html
  readonly runs: Html
  readonly runsNote: string
  readonly rows: Html
  readonly tableTitle: string
  readonly data: Readonly<Record<string, unknown>>
}

/** Of all texts of a page, in bytes. */
const BUDGET = 3_000_000

export function drawnAtOnce(analysis: Analysis): Drawn {
  const { session, calls, tones, thresholds } = analysis
  const cutter = new Cutter(
    calls.flatMap(({ arguments: raw, outcome }) => [raw, outcome?.text ?? '']),
    BUDGET,
  )
  const reminders = remindersOf(analysis)
  const rows = calls.map((call) => rowOf(analysis, call, cutter, reminders.get(call.at) ?? []))
  const title = (call: number): string => {
    const row = rows[call]
    return row === undefined ? '' : titleOf(row)
  }
  return {
    strip: html``,
    timeline: painted(timelineOf(sceneOf(session, calls), tones), title),
    runs: painted(runsOf(calls, session.reminders, thresholds, tones), title),
    runsNote: sharedBar(calls.filter(({ count }) => count > 0).length, 'calls'),
    rows: html`${rows.map(markupOf)}`,
    tableTitle: 'All calls',
    data: {},
  }
}

/** By the place of the call that they followed. */
export function remindersOf({ session }: Analysis): ReadonlyMap<number, readonly string[]> {
  const texts = new Map<number, string[]>()
  for (const { call, text } of session.reminders) {
    if (call === undefined) continue
    const known = texts.get(call)
    if (known === undefined) texts.set(call, [visible(text)])
    else known.push(visible(text))
  }
  return texts
}
