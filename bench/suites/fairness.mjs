// What it costs a step that the event loop gets its turn: three copies of the host, one of them without hops, take their turns in one
// process. Two copies that are the same say how much of a difference is none. Processor time, so that a busy machine counts for less.
import '../copies.mjs'
import { hopIfDue } from '@loopguard/kit'
import { report, us } from '../measure.mjs'

const STEPS = 1_000
const ROUNDS = 21

/** A model that makes a call, each with other arguments, `steps` times. */
function script(steps) {
  let step = 0
  return () => {
    if (step >= steps) return [{ type: 'finish', reason: { kind: 'stop' } }]
    const id = `call-${++step}`
    const block = { type: 'tool-call', id, name: 'echo', arguments: `{"n":${step}}` }
    return [
      { type: 'block-start', index: 0, blockType: 'tool-call' },
      { type: 'block-end', index: 0, block },
      { type: 'finish', reason: { kind: 'tool-calls' } },
    ]
  }
}

const copies = ['fair', 'twin', 'unfair']
const hosts = {}
for (const copy of copies) hosts[copy] = await import(`../hosts/ours.mjs?copy=${copy}`)

/** Nanoseconds per step of one turn. */
async function run(copy) {
  const host = await hosts[copy].mount({ timeout: true, remind: true, chunksOf: script(STEPS) })
  globalThis.gc()
  const before = process.cpuUsage()
  await host.say('go')
  const { user, system } = process.cpuUsage(before)
  const ns = ((user + system) * 1e3) / STEPS
  await host.ctx.fiber.dispose()
  return ns
}

const seen = { fair: [], twin: [], unfair: [] }
for (let round = -2; round < ROUNDS; round++) {
  // Each is first as often as the others.
  const order = copies.map((_, index) => copies[(index + round + copies.length) % copies.length])
  for (const copy of order) {
    const ns = await run(copy)
    if (round >= 0) seen[copy].push(ns)
  }
}

/** Nanoseconds of a question that gets nothing, and of a hop in a process that has nothing else to do. */
async function primitives() {
  const asked = []
  const hopped = []
  for (let round = 0; round < 200; round++) {
    await new Promise((resolve) => setImmediate(resolve))
    const startedAt = performance.now()
    for (let n = 0; n < 1_000; n++) void hopIfDue()
    asked.push((performance.now() - startedAt) * 1e3)
    while (performance.now() - startedAt < 5);
    const due = performance.now()
    await hopIfDue()
    hopped.push((performance.now() - due) * 1e6)
  }
  return { asked: median(asked), hopped: median(hopped) }
}

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1]
/** Of each round, so that a noisy moment does not count for one of them alone. */
const ratio = (one, other) => `${median(seen[one].map((ns, round) => ns / seen[other][round])).toFixed(3)} ×`
const { asked, hopped } = await primitives()
report({
  title: 'What it costs to let timers and signals run between steps without I/O',
  rows: [
    {
      name: '1,000 steps, beside a loop that never lets go',
      value: us(median(seen.fair)),
      beside: us(median(seen.unfair)),
      ratio: ratio('fair', 'unfair'),
    },
    {
      name: '1,000 steps, beside the very same loop',
      value: us(median(seen.fair)),
      beside: us(median(seen.twin)),
      ratio: ratio('fair', 'twin'),
    },
    { name: 'a question whether a hop is due, when none is', value: us(asked) },
    { name: 'a hop, with nothing else to do', value: us(hopped) },
  ],
})
process.exit(0)
