import type { CountedCall } from '../figures/counted.ts'
import type { Session } from '../read/session.ts'
import { number } from '../numbers.ts'
import type { Scene } from './timeline.ts'

/** A part of a session that is too long to be drawn at once: some turns, a turn, or a piece of one. */
export interface Part {
  readonly label: string
  /** Places of its calls: the first, and the one after the last. */
  readonly from: number
  readonly to: number
  readonly longest: number
}

/** Calls that can be drawn, and parts that can be told apart on a strip. */
const [MOST_CALLS, MOST_PARTS] = [500, 300]

interface Piece {
  from: number
  to: number
  readonly turns: [first: number, last: number]
  isPiece: boolean
}

export function partsOf(calls: readonly CountedCall[]): Part[] {
  const pieces = piecesOf(calls)
  const least = pieces.length > MOST_PARTS ? Math.ceil(calls.length / MOST_PARTS) : 0
  const parts: Piece[] = []
  for (const piece of pieces) {
    const last = parts.at(-1)
    if (last === undefined || last.to - last.from >= least) parts.push(piece)
    else {
      last.isPiece ||= piece.isPiece
      last.turns[1] = piece.turns[1]
      last.to = piece.to
    }
  }
  return parts.map(({ from, to, turns, isPiece }) => ({
    label: labelOf(turns, isPiece, from, to),
    from,
    to,
    longest: calls.slice(from, to).reduce((most, { count }) => Math.max(most, count), 0),
  }))
}

/** Turns, those that are too long in pieces of about the same length. */
function piecesOf(calls: readonly CountedCall[]): Piece[] {
  const turns: Piece[] = []
  for (const { at, turn } of calls) {
    const last = turns.at(-1)
    if (last?.turns[0] === turn) last.to = at + 1
    else turns.push({ from: at, to: at + 1, turns: [turn, turn], isPiece: false })
  }
  return turns.flatMap(({ from, to, turns: of }) => {
    const count = Math.ceil((to - from) / MOST_CALLS)
    const length = Math.ceil((to - from) / count)
    return Array.from({ length: count }, (_none, index): Piece => {
      const start = from + index * length
      return { from: start, to: Math.min(to, start + length), turns: [...of], isPiece: count > 1 }
    })
  })
}

function labelOf([first, last]: readonly [number, number], isPiece: boolean, from: number, to: number): string {
  const turns = first === last ? `turn ${number(first)}` : `turns ${number(first)} to ${number(last)}`
  return isPiece ? `${turns}, calls ${number(from + 1)} to ${number(to)}` : turns
}

/** What a timeline shows of a part: from its first request on to the next part. */
export function sceneOfPart({ from, to }: Part, { startedAt, turns, requests, reminders }: Session, all: readonly CountedCall[]): Scene {
  const calls = all.slice(from, to)
  const start = Math.min(...requests.filter((request) => request.calls.includes(from)).map((request) => request.start), startOf(calls[0]))
  const next = all[to]
  const asked = next && requests.find((request) => request.calls.includes(next.at))
  const end = Math.max(...calls.map((call) => call.end))
  const stop = Math.min(
    asked?.start ?? Infinity,
    Math.max(end, ...requests.filter((request) => request.calls.some((at) => at >= from && at < to)).map(({ stepEnd }) => stepEnd)),
  )
  const span = { start, end: Math.max(end, stop) }
  const isWithin = (at: number): boolean => at >= start && at <= span.end
  return {
    isTimed: startedAt !== undefined,
    turns: turns
      .filter((turn) => turn.end > start && turn.start < span.end)
      .map((turn) => ({ ...turn, start: Math.max(start, turn.start), end: Math.min(span.end, turn.end) })),
    requests: requests.filter((request) => request.start >= start && request.end <= span.end),
    calls,
    reminders: reminders.filter(({ call, at }) => (call === undefined ? isWithin(at) : call >= from && call < to)),
    span,
  }
}

function startOf(call: CountedCall | undefined): number {
  return call?.start ?? 0
}
