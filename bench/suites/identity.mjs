// The identity of a call beside writing its arguments out.
import fastStringify from 'fast-json-stable-stringify'
import safeStringify from 'safe-stable-stringify'
import { identityOf } from '../../packages/guard/repeat-tool-reminder/lib/identity.js'
import { argumentsOf, nanoseconds, report, times, us } from '../measure.mjs'

const rows = []
for (const [title, value] of [
  ['small arguments', { path: 'src/index.ts', line: 3 }],
  ['1 KB', argumentsOf(1_000)],
  ['100 KB', argumentsOf(100_000)],
]) {
  const ns = await nanoseconds({
    ours: () => identityOf('edit', value),
    plain: () => JSON.stringify(value),
    safe: () => safeStringify(value),
    fast: () => fastStringify(value),
  })
  for (const [name, other] of [
    ['JSON.stringify', ns.plain],
    ['safe-stable-stringify', ns.safe],
    ['fast-json-stable-stringify', ns.fast],
  ]) {
    rows.push({ name: `${title}, beside ${name}`, value: us(ns.ours), beside: us(other), ratio: times(ns.ours, other) })
  }
}
report({ title: 'Canonical identity of a call (ratio: ours to the other, less is better)', rows })
