// The identity of a call beside writing its arguments out; a fold of a transcript; what each rule costs beside the plain reminder. With
// BEFORE=<a checkout> its identity too, in the same turns.
import { existsSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import fastStringify from 'fast-json-stable-stringify'
import safeStringify from 'safe-stable-stringify'
import { keyOf } from '../../packages/util/repeat/src/identity.ts'
import { createFailureTracker, createRepeatTracker, remindIn } from '../../packages/util/repeat/lib/index.js'
import { argumentsOf, nanoseconds, report, times, us } from '../measure.mjs'

const before = await beforeOf(process.env['BEFORE'])
const small = { path: 'src/index.ts', line: 3 }
const rows = []
for (const [title, value] of [
  ['small arguments', small],
  ['1 KB', argumentsOf(1_000)],
  ['100 KB', argumentsOf(100_000)],
]) {
  const tracker = createRepeatTracker()
  const agent = {}
  const ns = await nanoseconds(
    {
      ours: () => keyOf('edit', value),
      plain: () => JSON.stringify(value),
      safe: () => safeStringify(value),
      fast: () => fastStringify(value),
      observed: () => tracker.observe(agent, 'edit', value),
      ...(before && { before: () => before('edit', value) }),
    },
    { rounds: 15, time: 60 },
  )
  for (const [name, other] of [
    ['JSON.stringify', ns.plain],
    ['safe-stable-stringify', ns.safe],
    ['fast-json-stable-stringify', ns.fast],
    ...(before ? [['what it was', ns.before]] : []),
  ]) {
    rows.push({ name: `${title}, beside ${name}`, value: us(ns.ours), beside: us(other), ratio: times(ns.ours, other) })
  }
  rows.push({ name: `${title}, counted by a tracker`, value: us(ns.observed), beside: us(ns.plain), ratio: times(ns.observed, ns.plain) })
}

/** Ten thousand calls in steps of one, every eighth like those before it, and the first of a step more. */
const step = (index) => [
  { calls: [{ name: 'edit', args: { path: 'src/index.ts', line: index % 8 === 0 ? index : 3 } }] },
  { results: true },
]
const list = [{ user: 'go' }, ...Array.from({ length: 10_000 }, (_, index) => step(index)).flat()]
const read = (message) => message
const make = (user) => ({ user })
const folds = await nanoseconds({ anew: () => remindIn({}, list, read, make) }, { rounds: 15, time: 60 })
/** Its caller makes a list anew for each request, which is not what is measured. */
const config = {}
const grown = []
for (let last = list; grown.length < 200; last = [...last, ...step(1)]) {
  const from = performance.now()
  remindIn(config, last, read, make)
  grown.push((performance.now() - from) * 1e6)
}
rows.push({ name: 'A fold of 10,000 calls, anew', value: us(folds.anew) })
rows.push({
  name: 'A fold of 10,000 calls and more, one step longer than the last',
  value: us(grown.toSorted((a, b) => a - b)[grown.length >> 1]),
})

/** Each rule over calls with small arguments that come in turns, so that nothing is ever due; the plain reminder in the same rounds. */
const line = '2026-12-01T03:36:28.123Z worker 7 (0x7f8a12b3c4d5): no such file or directory, after 0.53s\n'
for (const [title, text] of [
  ['a result of 90 characters', line],
  ['one of 10 KB', line.repeat(110)],
  ['one of 1 MB', line.repeat(11_000)],
]) {
  const [agent, quiet] = [{}, {}]
  const [plain, gated] = [createRepeatTracker(), createRepeatTracker({ results: 'unchanged' })]
  const [alone, beside] = [createFailureTracker(), createFailureTracker({}, { quiet })]
  let call = 0
  const next = () => ({ path: 'src/index.ts', line: call++ % 7 })
  const [fine, failed] = [false, true].map((isError) => ({ isError, text }))
  const costs = await nanoseconds(
    {
      plain: () => plain.observe(agent, 'edit', next(), fine),
      gated: () => gated.observe(agent, 'edit', next(), fine),
      success: () => beside.observe(agent, 'edit', next(), fine),
      failure: () => alone.observe(agent, 'edit', next(), failed),
      both: () => beside.observe(agent, 'edit', next(), failed),
    },
    { rounds: 7, time: 60 },
  )
  for (const [rule, cost] of [
    ['`results: unchanged`', costs.gated],
    ['repeated failures, a success', costs.success],
    ['repeated failures, a failure', costs.failure],
    ['repeated failures beside the reminder, a failure', costs.both],
  ]) {
    rows.push({
      name: `${rule}, ${title}, beside the plain reminder`,
      value: us(cost),
      beside: us(costs.plain),
      ratio: times(cost, costs.plain),
    })
  }
}
report({ title: 'Canonical identity of a call (ratio: ours to the other, less is better)', rows })

/** @param {string | undefined} checkout */
async function beforeOf(checkout) {
  if (checkout === undefined) return undefined
  const file = `${checkout}/packages/util/repeat/src/identity.ts`
  if (!existsSync(file)) throw new Error(`BEFORE=${checkout} is no checkout`)
  return (await import(pathToFileURL(file).href)).keyOf
}
