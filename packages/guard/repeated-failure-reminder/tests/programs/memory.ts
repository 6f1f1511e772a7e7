// Run with --expose-gc: prints, as JSON, by how many bytes what the guard keeps for an agent grows over a million failing calls, each another
// one; what it keeps for an agent with few, of large errors; and for one that is gone. And how long a call took.
import { memoryUsage } from 'node:process'
import { setImmediate as tick } from 'node:timers/promises'
import { Context } from '@deepseek-ai/cordis'
import * as guard from '@loopguard/repeated-failure-reminder'

const CALLS = 1_000_000

const ctx = new Context()
await ctx.plugin(guard)
const waterfall = (ctx.events.waterfall as (...args: unknown[]) => unknown).bind(ctx.events)
const decision = (): unknown => ({ kind: 'accept' })

async function fail(agent: object, at: number, text = `no such file ${at}`): Promise<void> {
  await waterfall(
    'tools/post-execute',
    { name: 'look', arguments: { at }, agent },
    { isError: true, content: [{ type: 'text', text }] },
    decision,
  )
}

async function heap(): Promise<number> {
  for (let round = 0; round < 4; round++) {
    await tick()
    globalThis.gc?.()
  }
  const { heapUsed, external } = memoryUsage()
  return heapUsed + external
}

// What is compiled and allocated once is none of the agents'.
const agent = {}
for (let call = 0; call < 20_000; call++) await fail(agent, -call)

const begun = await heap()
const startedAt = performance.now()
for (let call = 0; call < CALLS; call++) await fail(agent, call)
const micros = ((performance.now() - startedAt) * 1_000) / CALLS
const many = (await heap()) - begun

const large = 'x'.repeat(1_000_000)
// The engine keeps the text that an expression has seen last.
await fail({}, 0, `0${large}`)
const full = await heap()
const agents = Array.from({ length: 200 }, () => ({}))
for (const [index, each] of agents.entries()) for (let call = 0; call < 3; call++) await fail(each, call, `${index}${large}`)
const few = ((await heap()) - full) / agents.length

const before = await heap()
for (let call = 0; call < 20_000; call++) await fail({}, call)
const gone = ((await heap()) - before) / 20_000

process.stdout.write(JSON.stringify({ many, few, gone, micros, kept: [agent, agents].length }))
