// Run with --expose-gc: prints, as JSON, what budgeted calls leave behind on a signal, an agent and a pipeline that outlive them.
import { getEventListeners } from 'node:events'
import { memoryUsage } from 'node:process'
import { setImmediate as tick } from 'node:timers/promises'
import { Context } from '@deepseek-ai/cordis'
import * as timeoutPolicy from '@loopguard/timeout-policy'
import ToolRuntime, { type ToolExecutionInput } from '@loopguard/tools'

const COUNT = 100_000
const warnings: string[] = []
process.on('warning', (warning) => warnings.push(warning.name))

const ctx = new Context()
await ctx.plugin(ToolRuntime)
await ctx.plugin(timeoutPolicy)
const { tools } = ctx
tools.register({ name: 'quick', description: '', parameters: {}, timeoutMs: 60_000, execute: () => 'done' })
const { signal } = new AbortController()
const input = { callId: 'call-1', name: 'quick', arguments: {}, signal } as ToolExecutionInput

async function calls(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await tools.execute(input)
}

async function heap(): Promise<number> {
  for (let i = 0; i < 4; i++) {
    await tick()
    globalThis.gc?.()
  }
  return memoryUsage().heapUsed
}

await calls(5_000)
const before = await heap()
await calls(COUNT)
const after = await heap()

process.stdout.write(
  JSON.stringify({
    heapPerCall: (after - before) / COUNT,
    listenersAfter: getEventListeners(signal, 'abort').length,
    timersAfter: process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length,
    warnings,
  }),
)
