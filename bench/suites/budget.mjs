// What the cap costs, beside the reminder in the same turns: per call through the pipeline, and per step of a turn.
import * as budget from '@loopguard/budget'
import * as ours from '../hosts/ours.mjs'
import { nanoseconds, report, times, us } from '../measure.mjs'

const NEVER = 1_000_000_000
const CALLS = { maxCallsPerTurn: NEVER, maxCallsPerAgent: NEVER }
const EQUAL = { maxEqualCalls: NEVER }
const STEPS = {
  maxStepsPerTurn: NEVER,
  maxTokensPerTurn: NEVER,
  maxTurnMs: NEVER,
  maxStepsPerAgent: NEVER,
  maxTokensPerAgent: NEVER,
  maxAgentMs: NEVER,
}
const capped = (config) => ({ plugins: [[budget, config]] })
const setups = {
  none: {},
  reminder: { remind: true },
  'limits of calls': capped(CALLS),
  'limit of equal calls': capped(EQUAL),
  'all limits of calls': capped({ ...CALLS, ...EQUAL }),
}

const args = { path: 'src/index.ts', line: 3 }
const { signal } = new AbortController()
const tasks = {}
for (const [setup, options] of Object.entries(setups)) {
  const host = await ours.mount(options)
  tasks[setup] = () => host.call(args, signal)
}
const calls = await nanoseconds(tasks, { time: 200, rounds: 11 })
const rows = Object.keys(setups)
  .slice(2)
  .map((setup) => {
    const [a, b] = [calls[setup] - calls.none, calls.reminder - calls.none]
    return { name: `added to a call by the ${setup}, beside the reminder`, value: us(a), beside: us(b), ratio: times(b, a) }
  })

const LENGTH = 1_000
const ROUNDS = 9
/** Nanoseconds per step of a turn in which each step makes another call. */
async function perStep(options) {
  let step = 0
  const chunksOf = () => {
    const block =
      step++ < LENGTH ? { type: 'tool-call', id: `call-${step}`, name: 'echo', arguments: `{"n":${step}}` } : { type: 'text', text: 'done' }
    return [
      { type: 'block-start', index: 0, blockType: block.type },
      { type: 'block-end', index: 0, block },
      { type: 'usage', usage: { inputTokens: 9, outputTokens: 1 } },
      { type: 'finish', reason: { kind: 'stop' } },
    ]
  }
  const host = await ours.mount({ ...options, chunksOf })
  const startedAt = performance.now()
  await host.say('go')
  const ns = ((performance.now() - startedAt) * 1e6) / LENGTH
  await host.ctx.fiber.dispose()
  return ns
}

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1]
const turns = {
  none: {},
  reminder: { remind: true },
  'limits before a step': capped(STEPS),
  'all limits': capped({ ...STEPS, ...CALLS, ...EQUAL }),
}
const seen = Object.fromEntries(Object.keys(turns).map((name) => [name, []]))
for (const options of Object.values(turns)) await perStep(options)
for (let round = 0; round < ROUNDS; round++) {
  for (const [name, options] of Object.entries(turns)) seen[name].push(await perStep(options))
}
const steps = Object.fromEntries(Object.entries(seen).map(([name, values]) => [name, median(values)]))
for (const name of ['reminder', 'limits before a step', 'all limits']) {
  rows.push({
    name: `a step of ${LENGTH.toLocaleString('en')} with the ${name}, beside one without`,
    value: us(steps[name]),
    beside: us(steps.none),
    ratio: times(steps.none, steps[name]),
  })
}
report({ title: 'The cap, beside the reminder', rows, figures: { calls, steps } })
process.exit(0)
