// What the suites share: timing two things turn by turn in one run, and heap after a collection.
import { writeFileSync } from 'node:fs'
import { Bench } from 'tinybench'

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1]

/**
 * Median nanoseconds per call of each task. All tasks are run in turn, several rounds, so that a noisy moment hits them alike.
 * @param {Record<string, () => unknown>} tasks
 */
export async function nanoseconds(tasks, { rounds = 5, time = 200 } = {}) {
  const seen = Object.fromEntries(Object.keys(tasks).map((name) => [name, []]))
  for (let round = 0; round < rounds; round++) {
    const bench = new Bench({ time, warmupTime: round === 0 ? 200 : 20 })
    for (const [name, task] of Object.entries(tasks)) bench.add(name, task)
    await bench.run()
    for (const task of bench.tasks) {
      if (task.result.state !== 'completed') throw task.result.error ?? new Error(`${task.name}: ${task.result.state}`)
      seen[task.name].push(task.result.latency.p50 * 1e6)
    }
  }
  return Object.fromEntries(Object.entries(seen).map(([name, values]) => [name, median(values)]))
}

/** Bytes in use after a collection. */
export async function heap() {
  for (let turn = 0; turn < 3; turn++) {
    await new Promise((resolve) => setImmediate(resolve))
    globalThis.gc()
  }
  return process.memoryUsage().heapUsed
}

const trim = (value) => (value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3))

export const us = (ns) => `${trim(ns / 1000)} µs`
export const bytes = (count) => (Math.abs(count) >= 10_240 ? `${trim(count / 1024)} KiB` : `${Math.round(count)} B`)
export const times = (a, b) => `${trim(a / b)} ×`
export const perSecond = (ns) => `${Math.round(1e9 / ns).toLocaleString('en')} /s`

/** Hands a report to the command, which has given the file's name. */
export function report(content) {
  writeFileSync(process.argv[2], JSON.stringify(content))
}

export const full = process.argv.includes('--full')

/** About `size` bytes of arguments such as a model makes: nested, text of several lengths. */
export function argumentsOf(size) {
  const value = { path: 'src/index.ts', options: { recursive: true, depth: 3 }, edits: [] }
  while (JSON.stringify(value).length < size) {
    const line = value.edits.length
    value.edits.push({
      line,
      column: (line * 7) % 80,
      text: `const value${line} = compute(${line}, 'a piece of text that an edit would hold')`,
      tags: ['a', 'b'],
    })
  }
  return value
}
