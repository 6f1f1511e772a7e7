// Run with --expose-gc: prints, as JSON, how many bytes go with an agent of a million failing calls, each another one, and how many more than
// with one of 20,000; what the guard keeps for an agent with few, of large errors; and for one that is gone. And how long a call took.
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
  // The engine lets go of code that has not run for several collections.
  for (let round = 0; round < 12; round++) {
    await tick()
    globalThis.gc?.()
  }
  const { heapUsed, external } = memoryUsage()
  return heapUsed + external
}

/** The heap while an agent is there that has made so many calls, and how long a call took. */
async function work(calls: number): Promise<{ held: number; micros: number }> {
  const agent = {}
  const startedAt = performance.now()
  for (let call = 0; call < calls; call++) await fail(agent, call)
  const micros = ((performance.now() - startedAt) * 1_000) / calls
  const held = await heap()
  // To the end: the collector takes what nothing mentions any more.
  await fail(agent, calls)
  return { held, micros }
}

/** What goes with such an agent; the code that this took goes, too. */
async function kept(calls: number): Promise<{ bytes: number; micros: number }> {
  const { held, micros } = await work(calls)
  // The last call of all is another agent's.
  await fail({}, 0)
  return { bytes: held - (await heap()), micros }
}

// Of two the first compiles what the second and the third run.
await kept(20_000)
const some = await kept(20_000)
const { bytes, micros } = await kept(CALLS)
const many = bytes - some.bytes

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

process.stdout.write(JSON.stringify({ bytes, many, few, gone, micros, kept: agents.length }))
