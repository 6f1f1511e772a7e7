import { readdir, readFile } from 'node:fs/promises'
import { Context } from '@deepseek-ai/cordis'
import { advise, type ReviewedCall } from '@loopguard/advisory'
import { createHarness, userMessage } from '@loopguard/testkit'
import { describe, expect, it } from 'vitest'
import * as sample from './samples/empty-result-reminder.ts'

const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')

it('every sample of code is a file of tests/samples, to the letter, and the other way round', async () => {
  const samples = new URL('samples/', import.meta.url)
  const files = await Promise.all((await readdir(samples)).map((file) => readFile(new URL(file, samples), 'utf8')))
  expect(new Set([...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code))).toEqual(new Set(files))
})

it('the sample reminds of each call that brings nothing, after its result', async () => {
  await using harness = await createHarness({ plugins: [sample] })
  const results = ['', 'some']
  harness.ctx.tools.register({ name: 'look', description: '', parameters: {}, execute: () => results.shift() ?? '' })
  const agent = harness.agent()
  harness.model.push(...[1, 2].map(() => ({ calls: [{ name: 'look', arguments: {} }] })), { text: 'done' })
  await harness.say(agent, 'go')
  const log = agent.session.events.flatMap(({ type, data }): unknown[] =>
    type === 'user/message' ? [data.content[0]] : type === 'tool/result' ? ['result'] : [],
  )
  expect(log).toEqual([
    { type: 'text', text: 'go' },
    'result',
    { type: 'text', text: 'look returned nothing. Do not take that for a success.' },
    'result',
  ])
})

describe('what a guard hears', () => {
  it('is each call of an agent that is not nested, with its result, and whom it was dispatched for', async () => {
    await using harness = await createHarness()
    const { ctx } = harness
    const heard: ReviewedCall[] = []
    const afresh: object[] = []
    const guard = {
      name: 'guard',
      apply: (own: Context) =>
        advise(own, 'guard', { count: (call) => void heard.push(call), startAfresh: (agent) => void afresh.push(agent) }),
    }
    await ctx.plugin(guard)
    ctx.tools.register({ name: 'look', description: '', parameters: {}, execute: () => 'fine' })
    const agent = harness.agent()
    harness.model.push({ calls: [{ name: 'look', arguments: { at: 1 } }] }, { text: 'done' })
    agent.followup(userMessage('go'))
    await agent.whenIdle()
    expect(heard).toEqual([
      expect.objectContaining({ agent, name: 'look', args: { at: 1 }, result: expect.objectContaining({ isError: false }) as object }),
    ])
    expect(heard[0]?.carrier).toBeTypeOf('object')
    expect(afresh).toEqual([agent])
  })

  it('is nothing once it is unloaded, and no listener is left', async () => {
    const ctx = new Context()
    const counts = (): number[] => ['tools/post-execute', 'agent/pre-step'].map((event) => ctx.events._hooks[event]?.length ?? 0)
    const fiber = await ctx.plugin({
      name: 'guard',
      apply: (own: Context) => advise(own, 'guard', { count: () => undefined, startAfresh() {} }),
    })
    expect(counts()).toEqual([1, 1])
    await fiber.dispose()
    expect(counts()).toEqual([0, 0])
    await ctx.fiber.dispose()
  })
})
