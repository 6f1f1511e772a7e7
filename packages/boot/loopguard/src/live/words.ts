import type { Activities, Activity } from '../show/activities.ts'
import type { Counts } from '../show/tally.ts'
import { escaped } from '../show/terminal.ts'
import { fitted } from '../show/width.ts'

/** Longer arguments are shown as `{…}`: what counts is which call it is. */
const MAX_ARGUMENTS = 40
const MAX_NAME = 40

/**
 * What is waited for at the moment, in a line: `slow {…} 7.1 s · step 4 · 12,300 tokens`; `undefined` when no agent is in a turn. Of
 * several agents it is the one that has waited the longest, of several calls the oldest.
 */
export function waitingFor(activities: Activities, { tokens }: Pick<Counts, 'tokens'>, nowMs: number): string | undefined {
  const waits = activities
    .all()
    .map(([agent, activity]) => ({ agent, activity, ...waitOf(activity) }))
    .toSorted((a, b) => a.sinceMs - b.sinceMs)
  const [first] = waits
  if (first === undefined) return undefined
  const total = tokens === null ? 0 : tokens.input + tokens.output
  return [
    `${first.what} ${spanOf(nowMs - first.sinceMs)}`,
    ...(waits.length > 1 ? [`${oneLine(first.agent)} (+${waits.length - 1})`] : []),
    `step ${first.activity.step}`,
    ...(total > 0 ? [`${total.toLocaleString('en')} tokens`] : []),
  ].join(' · ')
}

function waitOf({ open, asking, sinceMs }: Activity): { readonly what: string; readonly sinceMs: number } {
  const [oldest] = open.values()
  if (oldest === undefined) return { what: asking ? 'the model' : 'between two steps', sinceMs }
  const { name, arguments: raw } = oldest.call
  const more = open.size > 1 ? ` (+${open.size - 1})` : ''
  return { what: `${fitted(oneLine(name), MAX_NAME)} ${briefly(raw)}${more}`, sinceMs: oldest.sinceMs }
}

function briefly(raw: string): string {
  const line = oneLine(raw.slice(0, 2 * MAX_ARGUMENTS))
  return fitted(line, MAX_ARGUMENTS) === line ? line : '{…}'
}

function oneLine(text: string): string {
  return escaped(text.replaceAll(/\s+/g, ' '))
}

/** `7.1 s`, `2 min 05 s`, `1 h 02 min`. */
export function spanOf(ms: number): string {
  const seconds = Math.floor(Math.max(0, ms) / 100) / 10
  if (seconds < 60) return `${seconds.toFixed(1)} s`
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0')
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${two(seconds % 60)} s`
  return `${Math.floor(seconds / 3600)} h ${two((seconds % 3600) / 60)} min`
}
