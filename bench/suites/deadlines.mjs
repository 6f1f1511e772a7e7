// Arming and disposing a deadline under one long-lived signal, and what it keeps.
import { deadline as published } from '@deepseek-ai/dsh-timeout'
import { deadline } from '@loopguard/timeout'
import pTimeout from 'p-timeout'
import { bytes, full, heap, nanoseconds, report, times, us } from '../measure.mjs'

const BUDGET_MS = 60_000
const ways = {
  ours: (signal) => deadline(signal, BUDGET_MS, 'BENCH')[Symbol.dispose](),
  published: (signal) => published(signal, BUDGET_MS, 'BENCH')[Symbol.dispose](),
  any: (signal) => {
    const controller = new AbortController()
    const timer = setTimeout(() => controller.abort(), BUDGET_MS)
    AbortSignal.any([signal, controller.signal])
    clearTimeout(timer)
  },
  pTimeout: (signal) => pTimeout(Promise.resolve(), { milliseconds: BUDGET_MS, signal }),
}

// A fresh signal for each round of one way: on Node 22 each `AbortSignal.any` under one signal is slower than the last.
const speed = await nanoseconds(
  Object.fromEntries(
    Object.entries(ways).map(([name, way]) => {
      let { signal } = new AbortController()
      let calls = 0
      return [
        name,
        () => {
          if (calls++ % 1_000 === 0) signal = new AbortController().signal
          return way(signal)
        },
      ]
    }),
  ),
)

/** Bytes kept for each of `count` deadlines under one signal; gives up after 20 s and says how far it came. */
async function kept(way, count) {
  const { signal } = new AbortController()
  const before = await heap()
  const until = performance.now() + 20_000
  let made = 0
  while (made < count && performance.now() < until) {
    for (let step = 0; step < 1_000; step++) await way(signal)
    made += 1_000
  }
  const each = ((await heap()) - before) / made
  signal.addEventListener('abort', () => {})
  return { each, made }
}

/** Median of several times: a table of the engine that grows for so many at once, or shrinks again, counts in one of them. */
async function settled(way, count) {
  const seen = []
  do seen.push(await kept(way, count))
  while (seen.length < 5 && seen.at(-1).made === count)
  return seen.toSorted((a, b) => a.each - b.each)[seen.length >> 1]
}

const rows = [
  {
    name: 'arm + dispose, beside the published harness',
    value: us(speed.ours),
    beside: us(speed.published),
    ratio: times(speed.published, speed.ours),
  },
  { name: 'arm + dispose, beside AbortSignal.any', value: us(speed.ours), beside: us(speed.any), ratio: times(speed.any, speed.ours) },
  { name: 'arm + dispose, beside p-timeout', value: us(speed.ours), beside: us(speed.pTimeout), ratio: times(speed.pTimeout, speed.ours) },
]
for (const count of full ? [1e5, 1e6] : [1e5]) {
  const ours = await settled(ways.ours, count)
  for (const [name, way] of [
    ['the published harness', ways.published],
    ['AbortSignal.any', ways.any],
    ['p-timeout', ways.pTimeout],
  ]) {
    const other = await settled(way, count)
    const note = other.made < count ? ` (gave up at ${other.made.toLocaleString('en')})` : ''
    rows.push({
      name: `kept for each of ${count.toLocaleString('en')}, beside ${name}`,
      value: bytes(ours.each),
      beside: `${bytes(other.each)}${note}`,
    })
  }
}
report({ title: 'Deadlines under one long-lived signal', rows, speed })
process.exit(0)
