import type { Analysis } from '../figures/analysis.ts'
import { runsOf } from '../draw/bars.ts'
import type { Mark, Picture, Subject } from '../draw/marks.ts'
import { type Part, partsOf, sceneOfPart } from '../draw/parts.ts'
import { timelineOf } from '../draw/timeline.ts'
import { Cutter } from './cutter.ts'
import { type Drawn, remindersOf } from './drawn-at-once.ts'
import { html, visible } from './html.ts'
import { rowOf } from './rows.ts'
import { stripOf } from './strip.ts'

/** Of all different texts of a page, in bytes. */
const BUDGET = 900_000

/** A strip of all turns, and what a script draws the chosen one from. */
export function drawnInParts(analysis: Analysis): Drawn {
  const { calls } = analysis
  const parts = partsOf(calls)
  const worst = parts.reduce((most, { longest }, index) => (longest > (parts[most] as Part).longest ? index : most), 0)
  const texts = new Texts()
  return {
    strip: stripOf(parts, worst, analysis.thresholds),
    timeline: html`<div id="timeline"></div>
      <noscript><p class="notes">A session of this length is drawn a part at a time, by a script.</p></noscript>`,
    runs: html`<div id="runs"></div>`,
    runsNote: '',
    rows: html``,
    tableTitle: 'Calls of this part',
    data: { worst, parts: parts.map((part) => drawn(part, analysis, texts)), calls: callsOf(analysis, texts), texts: texts.all },
  }
}

/** Each text once: calls name theirs by number. */
class Texts {
  readonly all: string[] = []
  private readonly known = new Map<string, number>()

  of(text: string): number {
    const at = this.known.get(text) ?? this.all.push(visible(text)) - 1
    this.known.set(text, at)
    return at
  }
}

/** In the order in which `assets/parts.js` reads them. Where there is a result, its first line is the summary. */
function callsOf(analysis: Analysis, texts: Texts): unknown[] {
  const { calls } = analysis
  const cutter = new Cutter([...new Set(calls.flatMap(({ arguments: raw, outcome }) => [raw, outcome?.text ?? '']))], BUDGET)
  const reminders = remindersOf(analysis)
  return calls.map((call) => {
    const row = rowOf(analysis, call, cutter, reminders.get(call.at) ?? [])
    const { place, tone, name, arguments: raw, count, time, fault, summary, result } = row
    const told = [texts.of(name), texts.of(raw), texts.of(fault), texts.of(result === '' ? summary : ''), texts.of(result)]
    return [place, tone, count, time, ...told, ...row.reminders.map((text) => texts.of(text))]
  })
}

function drawn(part: Part, { session, calls, tones, thresholds }: Analysis, texts: Texts): object {
  const { label, from, to } = part
  const scene = sceneOfPart(part, session, calls)
  const pictures = [timelineOf(scene, tones), runsOf(scene.calls, scene.reminders, thresholds, tones)]
  const [timeline, runs] = pictures.map((picture) => packed(picture, texts))
  return { label, from, to, timeline, runs }
}

/**
 * With what many marks share told once, by its number among the texts: kinds and classes, and what is read beside a mark, as `-1 - n`.
 * A call is its place. Requests are too many to say more of them here.
 */
function packed({ marks, rows, ...picture }: Picture, texts: Texts): object {
  const subject = (of: Subject): number => (typeof of === 'number' ? of : -1 - texts.of(of))
  const mark = (each: Mark): readonly unknown[] => {
    const kind = texts.of(each[0])
    switch (each[0]) {
      case 'box': {
        const [, x, y, width, height, classes, of] = each
        return [kind, x, y, width, height, texts.of(classes), subject(classes === 'model' ? '' : of)]
      }
      case 'reminder':
        return [kind, each[1], each[2], subject(each[3])]
      case 'words': {
        const [, x, y, text, classes, within] = each
        return [kind, x, y, texts.of(text), texts.of(classes), within]
      }
      case 'rule':
        return [kind, ...each.slice(1, 5), texts.of(each[5])]
    }
  }
  return { ...picture, ...(rows !== undefined && { rows: rows.map(visible) }), marks: marks.map(mark) }
}
