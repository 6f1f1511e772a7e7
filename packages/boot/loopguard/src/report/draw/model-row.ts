import type { ModelRequest, Span } from '../read/session.ts'
import { counted, duration, number } from '../numbers.ts'
import { boxOf } from './box.ts'
import { BAR, HEAD, type Mark } from './marks.ts'
import type { Scale } from './scale.ts'

/** More requests than this are drawn by neighbourhoods. */
const MOST_REQUESTS = 2000
/** How many of those there are in the width of a picture. */
const PLACES = 1000

/** The requests to the model, in the first row. */
export function modelRow(requests: readonly ModelRequest[], scale: Scale, isTimed: boolean): Mark[] {
  const box = (of: Span, words: string, hasFailed: boolean): Mark =>
    boxOf(scale, of, HEAD, BAR, hasFailed ? 'model failed' : 'model', words)
  if (requests.length <= MOST_REQUESTS)
    return requests.map((request) => box(request, told(request, isTimed), request.failure !== undefined))
  const places = new Map<string, { start: number; end: number; count: number; hasFailed: boolean }>()
  for (const { start, end, failure } of requests) {
    const hasFailed = failure !== undefined
    const key = `${Math.floor((scale.at(start) / 100) * PLACES)} ${hasFailed}`
    const place = places.get(key)
    if (place === undefined) places.set(key, { start, end, count: 1, hasFailed })
    else Object.assign(place, { end: Math.max(place.end, end), count: place.count + 1 })
  }
  return [...places.values()].map((place) => box(place, counted(place.count, 'request'), place.hasFailed))
}

function told({ turn, step, start, end, usage, failure }: ModelRequest, isTimed: boolean): string {
  const tokens =
    usage === undefined ? 'tokens not recorded' : `${number(usage.inputTokens)} input, ${number(usage.outputTokens)} output tokens`
  const took = isTimed ? `, ${duration(end - start)}` : ''
  return `turn ${turn}, step ${step}${took}\n${failure === undefined ? tokens : `failed: ${failure}`}`
}
