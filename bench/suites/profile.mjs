// Whose code the time of a call and of a step goes to, and which functions take most: self time under the CPU profiler.
import * as ours from '../hosts/ours.mjs'
import { report } from '../measure.mjs'
import { labelOf, ownerOf, profileOf } from '../profiler.mjs'

const CALLS = 200_000
const STEPS = 20_000
const STEPS_OF_AN_AGENT = 1_000
const TOP = 12

const left = new Map()
function chunksOf({ sessionId }) {
  const steps = left.get(sessionId)
  if (steps === 0) return [{ type: 'finish', reason: { kind: 'stop' } }]
  left.set(sessionId, steps - 1)
  const block = { type: 'tool-call', id: `call-${steps}`, name: 'echo', arguments: `{"n":${steps}}` }
  return [
    { type: 'block-start', index: 0, blockType: 'tool-call' },
    { type: 'block-end', index: 0, block },
    { type: 'finish', reason: { kind: 'tool-calls' } },
  ]
}

const host = await ours.mount({ timeout: true, remind: true, chunksOf })
const { signal } = new AbortController()

async function calls(count) {
  for (let index = 0; index < count; index++) await host.call({ path: 'src/index.ts', line: index }, signal)
}

let agents = 0
async function steps(count) {
  for (let done = 0; done < count; done += STEPS_OF_AN_AGENT) {
    const agent = host.create(`agent-${agents++}`)
    left.set(agent.id, STEPS_OF_AN_AGENT)
    agent.followup(host.message('go'))
    await agent.whenIdle()
    await agent.dispose()
  }
}

await calls(CALLS / 10)
await steps(STEPS / 10)
const seen = { call: await profileOf(() => calls(CALLS)), step: await profileOf(() => steps(STEPS)) }

/** Share of each name in the time of all. */
function shares(functions, nameOf) {
  const all = functions.reduce((sum, { us }) => sum + us, 0)
  const by = new Map()
  for (const each of functions) by.set(nameOf(each), (by.get(nameOf(each)) ?? 0) + each.us / all)
  return by
}
const percent = (share = 0) => `${(share * 100).toFixed(1)} %`
function rowsOf(nameOf, top = Infinity) {
  const [call, step] = [shares(seen.call, nameOf), shares(seen.step, nameOf)]
  const highest = (by) => [...by].toSorted(([, a], [, b]) => b - a).slice(0, top)
  const names = [...new Set([...highest(call), ...highest(step)].map(([name]) => name))]
  const most = (name) => Math.max(call.get(name) ?? 0, step.get(name) ?? 0)
  return names
    .filter((name) => most(name) >= 0.001)
    .toSorted((a, b) => most(b) - most(a))
    .map((name) => ({ name, value: percent(call.get(name)), beside: percent(step.get(name)) }))
}
const isFunction = ({ name }) => !name.startsWith('(')
const rows = [
  ...rowsOf(ownerOf),
  ...rowsOf((each) => (isFunction(each) ? labelOf(each) : undefined), TOP).filter(({ name }) => name !== undefined),
]
report({ title: 'Where the time goes (self time, small arguments, both guards)', head: ['', 'a call', 'a step'], rows })
process.exit(0)
