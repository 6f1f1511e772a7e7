// Matching a tool's name against a pattern.
import picomatch from 'picomatch'
import { matcherOf } from '../../packages/guard/repeat-tool-reminder/lib/pattern.js'
import { nanoseconds, report, times, us } from '../measure.mjs'

const rows = []
for (const [title, pattern, name] of [
  ['todo_* against todo_write', 'todo_*', 'todo_write'],
  ['*_file against read_file', '*_file', 'read_file'],
  ['*a*a*a*a*a*a*a*a*b against twenty a', '*a*a*a*a*a*a*a*a*b', 'a'.repeat(20)],
]) {
  const ours = matcherOf(pattern)
  const theirs = picomatch(pattern, { dot: true })
  const ns = await nanoseconds({ ours: () => ours(name), theirs: () => theirs(name) }, { rounds: 3, time: 100 })
  rows.push({ name: title, value: us(ns.ours), beside: us(ns.theirs), ratio: times(ns.theirs, ns.ours) })
}
report({ title: 'Patterns, beside picomatch', rows })
