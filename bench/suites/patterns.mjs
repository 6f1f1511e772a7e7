// Matching a tool's name against a pattern.
import picomatch from 'picomatch'
import { matcherOf } from '../../packages/util/repeat/src/pattern.ts'
import { nanoseconds, report, times, us } from '../measure.mjs'

/** Many a task: one match is shorter than the clock can tell. */
const BATCH = 1_000
const batch = (matches, name) => () => {
  let hits = 0
  for (let index = 0; index < BATCH; index++) if (matches(name)) hits++
  return hits
}

const rows = []
for (const [title, pattern, name] of [
  ['todo_* against todo_write', 'todo_*', 'todo_write'],
  ['*_file against read_file', '*_file', 'read_file'],
  ['*a*a*a*a*a*a*a*a*b against twenty a', '*a*a*a*a*a*a*a*a*b', 'a'.repeat(20)],
]) {
  const ours = matcherOf(pattern)
  const theirs = picomatch(pattern, { dot: true })
  const ns = await nanoseconds({ ours: batch(ours, name), theirs: batch(theirs, name) }, { rounds: 3, time: 100 })
  rows.push({ name: title, value: us(ns.ours / BATCH), beside: us(ns.theirs / BATCH), ratio: times(ns.theirs, ns.ours) })
}
report({ title: 'Patterns, beside picomatch', rows })
