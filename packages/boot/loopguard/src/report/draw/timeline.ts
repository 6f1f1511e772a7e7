import type { CountedCall } from '../figures/counted.ts'
import type { ModelRequest, Reminder, Session, Span, Turn } from '../read/session.ts'
import { brief } from '../shortened.ts'
import { boxOf, LEAST } from './box.ts'
import { lanesOf } from './lanes.ts'
import { BAR, type Box, HEAD, type Mark, type Picture, round, ROW } from './marks.ts'
import { duration } from '../numbers.ts'
import { modelRow } from './model-row.ts'
import { type Scale, scaleOf, ticksOf } from './scale.ts'

/** What a timeline shows of a session: all of it, or a part. */
export interface Scene {
  readonly isTimed: boolean
  readonly turns: readonly Turn[]
  readonly requests: readonly ModelRequest[]
  readonly calls: readonly CountedCall[]
  readonly reminders: readonly Reminder[]
  readonly span: Span
}

export function sceneOf(session: Session, calls: readonly CountedCall[]): Scene {
  const { startedAt, turns, requests, reminders } = session
  const all = [...turns, ...requests, ...calls]
  const start = all.reduce((least, each) => Math.min(least, each.start), all[0]?.start ?? 0)
  const span = { start, end: all.reduce((most, { end }) => Math.max(most, end), start) }
  return { isTimed: startedAt !== undefined, turns, requests, calls, reminders, span }
}

const [FOOT, EDGE] = [22, 2.5]
/** More turns than this cannot be told apart. */
const MOST_BANDS = 40
/** From which width on there is room, on a narrow screen and on a wide one: for the number of a turn, and for why it ended, too. */
const [ROOM_FOR_TURN, ROOM_FOR_NAME] = [
  { narrow: 18, wide: 6 },
  { narrow: 55, wide: 14 },
]
/** For a number in a bar. */
const ROOM = { narrow: 6.5, wide: 1.9 }

/** The model and each tool in a row of its own, over time. */
export function timelineOf(scene: Scene, tones: ReadonlyMap<string, number>): Picture {
  const { isTimed, turns, requests, calls, reminders, span } = scene
  const scale = scaleOf([...requests, ...calls], span)
  const { rows, rowOf } = rowsOf(calls)
  const foot = HEAD + rows.length * ROW
  const marks: Mark[] = [
    ...(turns.length > MOST_BANDS ? [] : turns.flatMap((turn, index) => bandOf(turn, index, scale, foot))),
    ...(isTimed ? gridOf(span, scale, foot) : []),
    ...scale.breaks.map((gap) => breakOf(gap, foot, span.start)),
    ...modelRow(requests, scale, isTimed),
    ...reminders.flatMap((reminder) => threadOf(reminder, calls, rowOf, scale)),
  ]
  for (const { call, lane, lanes } of lanesOf(calls, rowOf)) {
    const tone = tones.get(call.identity) ?? 0
    const height = BAR / lanes
    const bar = boxOf(
      scale,
      call,
      HEAD + rowOf(call.name) * ROW + lane * height,
      height - (lanes > 1 ? 1 : 0),
      classesOf(call, tone),
      call.at,
    )
    marks.push(bar, ...faultBelow(bar, call), ...numberIn(bar, call, tone, lanes))
  }
  marks.push(...reminders.map((reminder): Mark => ['reminder', round(placeOf(reminder, calls, scale)), 28, reminder.call ?? reminder.text]))
  return { label: 'Timeline', height: foot + FOOT, rows, marks }
}

/** The rows of tools, the model's first. Of many tools those that are called least share one. */
const MOST_ROWS = 16

function rowsOf(calls: readonly CountedCall[]): { readonly rows: readonly string[]; readonly rowOf: (name: string) => number } {
  const uses = new Map<string, number>()
  for (const { name } of calls) uses.set(name, (uses.get(name) ?? 0) + 1)
  const names = [...uses.keys()]
  const own = names.length <= MOST_ROWS ? names : names.toSorted((a, b) => (uses.get(b) ?? 0) - (uses.get(a) ?? 0)).slice(0, MOST_ROWS - 1)
  const rows = new Map(own.map((name, index) => [name, index + 1]))
  const others = names.length - own.length
  return {
    rows: ['model', ...own.map(brief), ...(others > 0 ? [`${others} other tools`] : [])],
    rowOf: (name) => rows.get(name) ?? own.length + 1,
  }
}

function bandOf(turn: Turn, index: number, { at }: Scale, foot: number): Mark[] {
  const [x, end] = [at(turn.start), at(turn.end)]
  const short = `turn ${turn.turn}`
  const name = turn.reason === undefined ? short : `${short}: ${turn.reason}`
  const width = end - x
  const words = (text: string, classes: string): Mark => ['words', round(x), 14, text, classes, round(width)]
  return [
    ['box', round(x), 0, round(Math.max(LEAST, width)), foot, index % 2 === 0 ? 'band' : 'band odd', name],
    ...(width < ROOM_FOR_TURN.wide ? [] : [words(width < ROOM_FOR_NAME.wide ? short : name, 'turn wide')]),
    ...(width < ROOM_FOR_TURN.narrow ? [] : [words(width < ROOM_FOR_NAME.narrow ? short : name, 'turn narrow')]),
  ]
}

/** Names of times need this much room, in percent, and so do those of idle times. */
const ROOM_FOR_TICK = 9
const MOST_NAMED_BREAKS = 3

function gridOf(span: Span, scale: Scale, foot: number): Mark[] {
  const named = scale.breaks.length > MOST_NAMED_BREAKS ? [] : scale.breaks
  const middles = named.map(({ x, width }) => x + width / 2)
  let last = -Infinity
  let shown = 0
  const ticks = ticksOf(span, scale).flatMap(({ x, time }): Mark[] => {
    if (x - last < ROOM_FOR_TICK || middles.some((middle) => Math.abs(middle - x) < ROOM_FOR_TICK)) return []
    last = x
    return [
      ['rule', round(x), 20, round(x), foot, 'grid'],
      ['words', round(x), foot + 15, moment(time), shown++ % 2 === 0 ? placed(x) : `${placed(x)} wide`, 0],
    ]
  })
  return [...ticks, ...named.map(({ start, end }, index): Mark => idle(middles[index] as number, end - start, foot))]
}

function idle(x: number, ms: number, foot: number): Mark {
  return ['words', round(x), foot + 15, `${duration(ms)} idle`, `${placed(x)} wide`, 0]
}

/** Within the picture, also at its ends. */
function placed(x: number): string {
  if (x > 93) return 'tick end'
  return x < 2 ? 'tick start' : 'tick'
}

/** A round time. */
function moment(ms: number): string {
  if (ms === 0) return '0'
  return ms >= 1000 && ms < 60_000 ? `${Math.round(ms / 10) / 100} s` : duration(ms)
}

function breakOf({ x, width, start, end }: Scale['breaks'][number], foot: number, from: number): Mark {
  return [
    'box',
    round(x),
    20,
    round(width),
    foot - 20,
    'break',
    `nothing happened for ${duration(end - start)}, from ${duration(start - from)} on`,
  ]
}

function classesOf({ isTimeout, count }: CountedCall, tone: number): string {
  if (isTimeout) return 'timeout'
  return count === 0 ? 'uncounted' : `tone${tone}`
}

/** A red edge below a call that failed. */
function faultBelow([, x, y, width, height]: Box, { at, isError }: CountedCall): Mark[] {
  return isError ? [['box', x, y + height - EDGE, width, EDGE, 'fault', at]] : []
}

function numberIn([, x, y, width, height]: Box, { count, isTimeout }: CountedCall, tone: number, lanes: number): Mark[] {
  if (tone === 0 || count === 0 || isTimeout || lanes > 1 || width < ROOM.wide) return []
  return [['words', round(x + width / 2), y + height - 5, String(count), width < ROOM.narrow ? 'count wide' : 'count', 0]]
}

/** Over the end of its call, where that is known. */
function placeOf({ call, at }: Reminder, calls: readonly CountedCall[], scale: Scale): number {
  const first = calls[0]?.at ?? 0
  return scale.at(call === undefined ? at : (calls[call - first]?.end ?? at))
}

function threadOf(reminder: Reminder, calls: readonly CountedCall[], rowOf: (name: string) => number, scale: Scale): Mark[] {
  const first = calls[0]?.at ?? 0
  const call = reminder.call === undefined ? undefined : calls[reminder.call - first]
  if (call === undefined) return []
  const x = round(placeOf(reminder, calls, scale))
  return [['rule', x, 34, x, HEAD + rowOf(call.name) * ROW + BAR, 'thread']]
}
