// A process that works for long: `npm run bench -- soak`, ten million calls through the pipeline and a million steps of the loop, both
// guards on. Says what is alive at the start, in the middle and at the end, and exits with 1 when the heap has grown by more than the
// bound or anything is left over. `--calls` and `--steps` make it shorter.
//
// A log in memory grows with its agent's steps, so the steps are those of many agents, each disposed after a thousand.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { parseArgs } from 'node:util'
import * as ours from './hosts/ours.mjs'
import { leftOver, residueOf, tableOfResidue } from './residue.mjs'

const { values } = parseArgs({ options: { calls: { type: 'string', default: '10000000' }, steps: { type: 'string', default: '1000000' } } })
const [CALLS, STEPS] = ['calls', 'steps'].map((name) => {
  const count = Number(values[name])
  if (Number.isSafeInteger(count) && count >= 2) return count
  console.error(`soak: --${name} must be an integer >= 2, got "${values[name]}"`)
  process.exit(2)
})
/** By so much the heap differs between two collections of the same work: code and feedback of the engine come and go. */
const BOUND = 2 * 2 ** 20
const STEPS_OF_AN_AGENT = 1_000
/** One call of so many runs into its time-out, and one is cancelled. */
const RARE = 10_000

setFlagsFromString('--expose-gc')
globalThis.gc ??= runInNewContext('gc')

const left = new Map()
function chunksOf({ sessionId }) {
  const steps = left.get(sessionId)
  if (steps === 0) return [{ type: 'finish', reason: { kind: 'stop' } }]
  left.set(sessionId, steps - 1)
  // Three equal calls in a row: the reminder speaks up.
  const block = { type: 'tool-call', id: `call-${steps}`, name: 'echo', arguments: `{"n":${Math.floor(steps / 3)}}` }
  return [
    { type: 'block-start', index: 0, blockType: 'tool-call' },
    { type: 'block-end', index: 0, block },
    { type: 'finish', reason: { kind: 'tool-calls' } },
  ]
}

const host = await ours.mount({ timeout: true, remind: true, chunksOf })
const { ctx, agent } = host
const { tools } = ctx
const hanging = (name, timeoutMs) => ({
  name,
  description: 'Waits until it is told to stop',
  parameters: { type: 'object' },
  timeoutMs,
  execute: (_args, { signal }) =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true })),
})
tools.register(hanging('hang', 1))
tools.register(hanging('wait', 60_000))
/** One signal for all calls, as long as the process. */
const { signal } = new AbortController()
const seen = { calls: 0, steps: 0, timeouts: 0, cancelled: 0, reminders: 0 }

async function rare(name, of, expected) {
  const { error } = await tools.execute({ callId: name, name, arguments: {}, agent, signal: of })
  const code = error?.info?.code
  if (code !== expected || of.aborted !== (code === undefined))
    throw new Error(`soak: a call of "${name}" ended with ${JSON.stringify(error)}`)
}

async function call(count) {
  for (let index = 0; index < count; index++) {
    const result = await host.call({ n: index >> 2, path: 'src/index.ts' }, signal)
    seen.reminders += result.additionalContexts?.length ?? 0
    if (seen.calls++ % RARE === 0) {
      await rare('hang', signal, 'TOOL_TIMEOUT')
      seen.timeouts++
      const caller = new AbortController()
      setImmediate(() => caller.abort())
      await rare('wait', caller.signal, undefined)
      seen.cancelled++
    }
    // As a host does that has other work: timers and signals have their turn.
    if (index % 1_000 === 0) await new Promise(setImmediate)
  }
}

async function step(count) {
  for (let done = 0; done < count; done += STEPS_OF_AN_AGENT) {
    const steps = Math.min(STEPS_OF_AN_AGENT, count - done)
    const worker = host.create(`worker-${seen.steps}`)
    left.set(worker.id, steps)
    worker.followup(host.message('go'))
    await worker.whenIdle()
    const made = worker.session.events.filter(({ type }) => type === 'step/end').length
    if (made !== steps + 1) throw new Error(`soak: an agent made ${made} steps, not ${steps + 1}`)
    await worker.dispose()
    left.delete(worker.id)
    seen.steps += steps
  }
}

async function work(calls, steps) {
  await call(calls)
  await step(steps)
}

const startedAt = performance.now()
await work(Math.ceil(CALLS / 20), Math.ceil(STEPS / 20))
const warm = { ...seen }
const start = await residueOf({ signal, ctx })
await work(CALLS >> 1, STEPS >> 1)
const middle = await residueOf({ signal, ctx })
await work(CALLS - (CALLS >> 1), STEPS - (STEPS >> 1))
const end = await residueOf({ signal, ctx })

console.log(tableOfResidue({ start, middle, end }))
const counts = Object.entries(seen).map(([name, count]) => `${(count - warm[name]).toLocaleString('en')} ${name}`)
console.log(
  `${counts.join(', ')} since the start, in ${Math.round((performance.now() - startedAt) / 1_000)} s; a heap may grow by ${BOUND / 2 ** 20} MiB.`,
)
const faults = leftOver(start, end, BOUND)
for (const fault of faults) console.error(`soak: ${fault}`)
process.exit(faults.length > 0 ? 1 : 0)
