// Many agents: heap for each live one with a chain, and a thousand at work at once.
import * as ours from '../hosts/ours.mjs'
import { argumentsOf, bytes, heap, report, us } from '../measure.mjs'

const LIVE = 10_000
const WORKING = 1_000
const STEPS = 10

const rows = []
{
  const host = await ours.mount({ remind: true })
  const { signal } = new AbortController()
  const before = await heap()
  const agents = Array.from({ length: LIVE }, (_, index) => host.create(`live-${index}`))
  const idle = await heap()
  const args = argumentsOf(1_000)
  for (const agent of agents) await host.call(args, signal, agent)
  const chained = await heap()
  rows.push({ name: `heap of each of ${LIVE.toLocaleString('en')} idle agents`, value: bytes((idle - before) / LIVE) })
  rows.push({ name: 'added by a chain of the reminder', value: bytes((chained - idle) / LIVE) })
  await host.ctx.fiber.dispose()
}
{
  const left = new Map()
  const chunksOf = ({ sessionId }) => {
    const steps = left.get(sessionId) ?? STEPS
    left.set(sessionId, steps - 1)
    const block =
      steps > 0
        ? { type: 'tool-call', id: `${sessionId}-${steps}`, name: 'echo', arguments: `{"n":${steps}}` }
        : { type: 'text', text: 'done' }
    return [
      { type: 'block-start', index: 0, blockType: block.type },
      { type: 'block-end', index: 0, block },
      { type: 'finish', reason: { kind: steps > 0 ? 'tool-calls' : 'stop' } },
    ]
  }
  const host = await ours.mount({ timeout: true, remind: true, chunksOf })
  const agents = Array.from({ length: WORKING }, (_, index) => host.create(`working-${index}`))
  const startedAt = performance.now()
  for (const agent of agents) agent.followup(host.message('go'))
  await Promise.all(agents.map((agent) => agent.whenIdle()))
  const ns = (performance.now() - startedAt) * 1e6
  rows.push({
    name: `${WORKING.toLocaleString('en')} agents at once, ${STEPS} calls each, per step`,
    value: us(ns / (WORKING * (STEPS + 1))),
  })
  await host.ctx.fiber.dispose()
}
report({ title: 'Agents by the thousand', rows })
process.exit(0)
