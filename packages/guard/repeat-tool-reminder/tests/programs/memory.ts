// Run with --expose-gc: prints, as JSON, the bytes that the guard keeps for an agent that is alive and for one that is gone.
import { memoryUsage } from 'node:process'
import { setImmediate as tick } from 'node:timers/promises'
import { Context } from '@deepseek-ai/cordis'
import * as reminder from '@loopguard/repeat-tool-reminder'

const SIZE = 2_000_000

const ctx = new Context()
await ctx.plugin(reminder)
const waterfall = (ctx.events.waterfall as (...args: unknown[]) => unknown).bind(ctx.events)
const decision = (): unknown => ({ kind: 'accept' })

const bytes = Buffer.alloc(SIZE, 'x')

/** A text of two megabytes, a new one each time. */
function text(index: number): string {
  bytes.write(`${index} `)
  return bytes.toString('latin1')
}

function large(index: number): unknown {
  return { path: `file ${index}`, content: text(index), options: { backup: true, again: [index] } }
}

/** Small arguments that were cut out of a large text: the pieces hold on to the whole. */
function cut(index: number): unknown {
  const whole = text(index)
  return { path: whole.slice(0, 40), [whole.slice(50, 80)]: whole.slice(100, 200) }
}

async function call(agents: readonly object[], argumentsOf: (index: number) => unknown): Promise<void> {
  for (const [index, agent] of agents.entries()) {
    await waterfall('tools/post-execute', { name: 'write', arguments: argumentsOf(index), agent }, { isError: false }, decision)
  }
}

async function heap(): Promise<number> {
  for (let round = 0; round < 4; round++) {
    await tick()
    globalThis.gc?.()
  }
  const { heapUsed, external } = memoryUsage()
  return heapUsed + external
}

async function perAgent(count: number, argumentsOf: (index: number) => unknown): Promise<number> {
  const agents = Array.from({ length: count }, (_, id) => ({ id }))
  const before = await heap()
  await call(agents, argumentsOf)
  return ((await heap()) - before) / agents.length
}

// What is compiled and allocated once, and the heap that has grown for it, is none of the agents'.
await call([{}], large)
await call([{}], cut)

const alive = { large: await perAgent(1_000, large), cut: await perAgent(100, cut) }
const before = await heap()
for (let round = 0; round < 100; round++)
  await call(
    Array.from({ length: 1_000 }, () => ({})),
    (index) => ({ index }),
  )
const gone = ((await heap()) - before) / 100_000

process.stdout.write(JSON.stringify({ alive, gone }))
