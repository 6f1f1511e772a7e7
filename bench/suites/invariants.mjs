// What the companions of all packages cost: the same turn of a thousand steps with and without them, by turns.
import Invariants from '@loopguard/invariants'
import * as ours from '../hosts/ours.mjs'
import { report, times, us } from '../measure.mjs'

const STEPS = 1_000
const ROUNDS = 7
const companions = await Promise.all(
  ['llm', 'session', 'tools', 'agent-loop', 'timeout-policy', 'repeat-tool-reminder', 'repeated-failure-reminder', 'invariants'].map(
    (name) => import(`@loopguard/${name}/invariant`),
  ),
)

async function run(plugins) {
  let step = 0
  const chunksOf = () => {
    const block =
      step++ < STEPS ? { type: 'tool-call', id: `call-${step}`, name: 'echo', arguments: `{"n":${step}}` } : { type: 'text', text: 'done' }
    return [
      { type: 'block-start', index: 0, blockType: block.type },
      { type: 'block-end', index: 0, block },
      { type: 'finish', reason: { kind: 'stop' } },
    ]
  }
  const host = await ours.mount({ timeout: true, remind: true, chunksOf, plugins })
  const startedAt = performance.now()
  await host.say('go')
  const ns = ((performance.now() - startedAt) * 1e6) / STEPS
  const violations = host.ctx.get('invariants')?.violations ?? []
  await host.ctx.fiber.dispose()
  if (violations.length > 0) throw violations[0]
  return ns
}

const withAll = []
const without = []
await run([])
await run([Invariants, ...companions])
for (let round = 0; round < ROUNDS; round++) {
  without.push(await run([]))
  withAll.push(await run([Invariants, ...companions]))
}
const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1]
const [a, b] = [median(withAll), median(without)]
report({
  title: 'Invariants: a step with all companions, beside one with none',
  rows: [{ name: `${STEPS.toLocaleString('en')} steps with both guards`, value: us(a), beside: us(b), ratio: times(a, b) }],
})
process.exit(0)
