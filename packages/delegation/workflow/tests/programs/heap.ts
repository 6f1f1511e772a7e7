// Run with --expose-gc: makes ten thousand children in a row, with every companion watching, and prints as JSON the heap after 1,000 and
// after 10,000 of them, in bytes, and what is left of them.
import { memoryUsage } from 'node:process'
import { setImmediate as tick } from 'node:timers/promises'
import Subagents from '@loopguard/subagent'
import { createHarness, ScriptedModel } from '@loopguard/testkit'
import * as reminder from '@loopguard/repeat-tool-reminder'
import Workflows from '@loopguard/workflow'

const COUNT = 10_000

async function heap(): Promise<number> {
  for (let round = 0; round < 4; round++) {
    await tick()
    globalThis.gc?.()
  }
  return memoryUsage().heapUsed
}

const adapter = new ScriptedModel([{ text: 'done', repeat: Infinity }], { record: false })
const harness = await createHarness({
  adapter,
  plugins: [reminder, Subagents, [Workflows, { maxTotalAgents: COUNT }]],
  tools: [{ name: 'look', description: '', parameters: {}, execute: () => 'ok' }],
})
const parent = harness.agent({ id: 'main' })
const began = Date.now()
const figures: number[] = []
await harness.ctx.workflow.run({ parent }, async ({ agent }) => {
  for (let made = 1; made <= COUNT; made++) {
    const { reason } = await agent({ prompt: `task ${made}` })
    if (reason.kind !== 'completed') throw new Error(reason.kind)
    if (made === 1_000 || made === COUNT) figures.push(await heap())
  }
})
const left = {
  agents: harness.ctx.agentLoop.list().length,
  sessions: harness.ctx.sessions.list().length,
  children: harness.ctx.subagents.list().length,
  effects: parent.ctx.fiber.getEffects().length,
}
const tookMs = Date.now() - began
await harness.dispose()
console.log(JSON.stringify({ at1000: figures[0], at10000: figures[1], left, asked: adapter.count, tookMs }))
