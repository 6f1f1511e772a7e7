import type { CountedCall } from '../figures/counted.ts'
import type { ModelRequest, Reminder } from '../read/session.ts'
import { type Mark, type Picture, round } from './marks.ts'
import { number } from '../numbers.ts'

const [TOP, HEIGHT, FOOT] = [20, 130, 4]
/** Of a bar at most, and of a picture at least, in pixels. */
const [WIDEST, NARROWEST] = [34, 272]
/** More bars than this cannot be told apart: neighbours share one, which is as high as the highest of them. */
const MOST_BARS = 400
/** From this many calls in a row on, the scale is a logarithm: thresholds must stay visible below a run of thousands. */
const LOG_FROM = 25
const ROOM_FOR_LABEL = 13

/** Each call that counts, in order, as high as its place in its run. */
export function runsOf(
  all: readonly CountedCall[],
  reminders: readonly Reminder[],
  thresholds: readonly number[],
  tones: ReadonlyMap<string, number>,
): Picture {
  const groups = binned(all.filter(({ count }) => count > 0))
  const most = all.reduce((high, { count }) => Math.max(high, count), Math.max(...thresholds.slice(0, 3)) + 1)
  const y = (count: number): number => TOP + (HEIGHT - TOP) * (1 - (most < LOG_FROM ? count / most : Math.log1p(count) / Math.log1p(most)))
  const followed = new Set(reminders.map(({ call }) => call))
  const bars: Mark[] = []
  const reminded: Mark[] = []
  for (const [index, group] of groups.entries()) {
    const [x, width] = placeOf(index, groups.length)
    const call = highest(group, ({ count }) => count)
    const top = round(y(call.count))
    bars.push(['box', x, top, width, round(HEIGHT - top), barClass(call, tones), call.at])
    for (const { at, count } of group) if (followed.has(at)) reminded.push(['reminder', round(x + width / 2), round(y(count)) - 9, at])
  }
  const shown = thresholds.filter((threshold) => threshold <= most).map((threshold) => ({ threshold, at: round(y(threshold)) }))
  return {
    label: 'Equal calls in a row',
    height: HEIGHT + FOOT,
    width: widthOf(groups.length),
    axis: axisOf([
      [HEIGHT, '0', ''],
      ...shown.map(({ threshold, at }) => [at, number(threshold), 'limit'] as const),
      [y(most), number(most), ''],
    ]),
    marks: [
      ...bars,
      ...shown.map(({ at }): Mark => ['rule', 0, at, 100, at, 'threshold']),
      ['rule', 0, HEIGHT, 100, HEIGHT, 'base'],
      ...reminded,
    ],
  }
}

/** Without those that would stand in the way of one before. */
function axisOf(labels: NonNullable<Picture['axis']>): NonNullable<Picture['axis']> {
  const kept: (typeof labels)[number][] = []
  for (const label of labels) if (kept.every(([y]) => Math.abs(y - label[0]) >= ROOM_FOR_LABEL)) kept.push(label)
  return kept
}

/** The input tokens of each request that says them. */
export function tokensOf(requests: readonly ModelRequest[], calls: readonly CountedCall[], tones: ReadonlyMap<string, number>): Picture {
  const inputOf = ({ usage }: ModelRequest): number => usage?.inputTokens ?? 0
  const groups = binned(requests.filter(({ usage }) => usage !== undefined))
  const most = requests.reduce((high, request) => Math.max(high, inputOf(request)), 1)
  const bars = groups.map((group, index): Mark => {
    const [x, width] = placeOf(index, groups.length)
    const request = highest(group, inputOf)
    const input = inputOf(request)
    const height = round(((HEIGHT - TOP) * input) / most)
    const repeated = request.calls.map((at) => calls[at] as CountedCall).find(({ count }) => count > 1)
    const words = `turn ${request.turn}, step ${request.step}: ${number(input)} input, ${number(request.usage?.outputTokens ?? 0)} output tokens`
    return ['box', x, HEIGHT - height, width, height, repeated === undefined ? 'tone0' : `tone${tones.get(repeated.identity) ?? 0}`, words]
  })
  const half = HEIGHT - (HEIGHT - TOP) / 2
  return {
    label: 'Input tokens of each request',
    height: HEIGHT + FOOT,
    width: widthOf(groups.length),
    axis: [
      [HEIGHT, '0', ''],
      [half, number(most / 2), ''],
      [TOP, number(most), ''],
    ],
    marks: [['rule', 0, TOP, 100, TOP, 'grid'], ['rule', 0, half, 100, half, 'grid'], ...bars, ['rule', 0, HEIGHT, 100, HEIGHT, 'base']],
  }
}

/** How many neighbours share a bar, when there are so many. */
export function binSize(length: number): number {
  return Math.ceil(length / MOST_BARS)
}

function binned<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  const size = Math.max(1, binSize(items.length))
  return Array.from({ length: Math.ceil(items.length / size) }, (_none, index) => items.slice(index * size, (index + 1) * size))
}

function highest<Item>(items: readonly Item[], heightOf: (item: Item) => number): Item {
  return items.reduce((high, item) => (heightOf(item) > heightOf(high) ? item : high))
}

function placeOf(index: number, length: number): [x: number, width: number] {
  const step = (100 * WIDEST) / widthOf(length)
  const gap = length > 150 ? 0 : step * 0.1
  return [round(index * step + gap / 2), round(step - gap)]
}

/** In pixels, at most. */
function widthOf(bars: number): number {
  return Math.max(bars * WIDEST, NARROWEST)
}

function barClass({ identity, isTimeout }: CountedCall, tones: ReadonlyMap<string, number>): string {
  return isTimeout ? 'timeout' : `tone${tones.get(identity) ?? 0}`
}
