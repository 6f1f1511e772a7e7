import { merged } from '../figures/busy.ts'
import type { Span } from '../read/session.ts'

/** A time in which nothing happened, drawn narrower than it was. */
interface Break extends Span {
  /** Where it is drawn, in percent. */
  readonly x: number
  readonly width: number
}

/** Where times are on a picture: from 0 to 100 percent of its width. */
export interface Scale {
  readonly at: (time: number) => number
  readonly breaks: readonly Break[]
  /** How many milliseconds a percent is, between breaks. */
  readonly unit: number
}

/** The share of all work from which on a gap is broken, and how wide it is drawn then, in percent. */
const [LEAST_SHARE, WIDTH, ALL_WIDTHS] = [0.12, 3, 24]

const MOST_BREAKS = 100

/** A scale over what happened, in which idle gaps are broken. */
export function scaleOf(spans: readonly Span[], { start, end }: Span): Scale {
  const work = merged([{ start, end: start }, ...spans, { start: end, end }])
  const total = work.reduce((sum, span) => sum + span.end - span.start, 0)
  const gaps = work.slice(1).map((span, index) => ({ start: (work[index] as Span).end, end: span.start }))
  const broken = total === 0 ? [] : longest(gaps.filter((gap) => gap.end - gap.start > total * LEAST_SHARE))
  const width = broken.length === 0 ? 0 : Math.min(WIDTH, ALL_WIDTHS / broken.length)
  const drawn = end - start - broken.reduce((sum, gap) => sum + gap.end - gap.start, 0)
  // Of no time at all, every place is the first.
  const unit = drawn > 0 ? drawn / (100 - width * broken.length) : 1
  const breaks: Break[] = []
  let [spared, x] = [0, 0]
  for (const gap of broken) {
    x = (gap.start - start - spared) / unit + width * breaks.length
    breaks.push({ ...gap, x, width })
    spared += gap.end - gap.start
  }
  return { breaks, unit, at: (time) => placeOf(Math.min(Math.max(time, start), end), start, breaks, unit) }
}

/** The longest of very many, in order: what is shortened must stay visible. */
function longest(gaps: readonly Span[]): readonly Span[] {
  if (gaps.length <= MOST_BREAKS) return gaps
  const kept = gaps.toSorted((a, b) => b.end - b.start - (a.end - a.start)).slice(0, MOST_BREAKS)
  return kept.toSorted((a, b) => a.start - b.start)
}

function placeOf(time: number, start: number, breaks: readonly Break[], unit: number): number {
  let from: Span & { readonly x: number } = { start, end: start, x: 0 }
  // The last break that has begun. There are few of them.
  for (const gap of breaks) {
    if (gap.start >= time) break
    from = { start: gap.start, end: gap.end, x: gap.x + gap.width }
    if (time < gap.end) return gap.x + (gap.width * (time - gap.start)) / (gap.end - gap.start)
  }
  return Math.min(100, from.x + (time - from.end) / unit)
}

const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500].concat(
  [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 28_800, 86_400].map((seconds) => seconds * 1000),
)
const MOST_TICKS = 8

/** Round times on a scale, at most eight of them and not within breaks. */
export function ticksOf({ start, end }: Span, { at, breaks, unit }: Scale): { readonly x: number; readonly time: number }[] {
  const span = unit * 100
  const step = STEPS.find((each) => span / each <= MOST_TICKS) ?? Math.ceil(span / MOST_TICKS / 86_400_000) * 86_400_000
  const ticks: { x: number; time: number }[] = []
  let from = start
  for (const stop of [...breaks, { start: end, end }]) {
    for (let time = Math.ceil((from - start) / step) * step + start; time <= stop.start; time += step)
      ticks.push({ x: at(time), time: time - start })
    from = stop.end
  }
  return ticks
}
