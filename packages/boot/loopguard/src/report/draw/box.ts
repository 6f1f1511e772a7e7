import type { Span } from '../read/session.ts'
import { type Box, round, type Subject } from './marks.ts'
import type { Scale } from './scale.ts'

/** A mark is never narrower, in percent. */
export const LEAST = 0.25

/** What happened in a span, on a scale. */
export function boxOf({ at }: Scale, of: Span, y: number, height: number, classes: string, subject: Subject): Box {
  const x = Math.min(at(of.start), 100 - LEAST)
  return ['box', round(x), y, round(Math.max(LEAST, at(of.end) - x)), height, classes, subject]
}
