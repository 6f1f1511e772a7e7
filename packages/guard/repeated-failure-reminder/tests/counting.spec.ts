import type { Context } from '@deepseek-ai/cordis'
import * as repeatToolReminder from '@loopguard/repeat-tool-reminder'
import * as guard from '@loopguard/repeated-failure-reminder'
import { describe, expect, it } from 'vitest'
import { both, execute, heard, play, stage } from './stage.ts'

async function seen(trace: string, plugins?: Parameters<typeof stage>[0]): Promise<string> {
  await using harness = await stage(plugins)
  const agent = harness.agent()
  await play(harness, agent, trace)
  expect(harness.log).toEqual([])
  return heard(agent)
}

describe('the failures of a call', () => {
  it.each([
    ['at three and at five, also with other calls between', 'A x A y A z A x A x A', 'A x A y A! z A x A! x A'],
    ['then none', 'A A A A A A A A', 'A A A! A A! A A A'],
    ['not after a success', 'A A a A A', 'A A a A A'],
    ['not for another error', '1 2 1 2 1', 'A A A A A'],
    ['from 1 after another error', '1 1 2 1 1 1', 'A A A A A A!'],
    ['of each call by itself', 'A B A B A B', 'A B A B A! B!'],
    ['a message of the user starts afresh', 'A A U A A', 'A A A A'],
    ['a message of a plugin does not', 'A A P A A', 'A A A! A'],
    ['in a batch, after all its results', 'AAAx', 'AAAx!'],
    ['in a batch, one for each threshold', 'AAAAA', 'AAAAA!!'],
  ])('%s', async (_title, trace, log) => {
    expect(await seen(trace)).toBe(log)
  })

  it('are counted for each agent', async () => {
    await using harness = await stage()
    const [one, two] = [harness.agent(), harness.agent()]
    for (const agent of [one, two, one, two]) await play(harness, agent, 'A', agent.session.events.length < 3 ? 'U' : 'P')
    await play(harness, one, 'A', 'P')
    expect([heard(one), heard(two)]).toEqual(['A A A!', 'A A'])
  })

  it('of tools that are left out do not count', async () => {
    expect(await seen('A B A B A B', [[guard, { exclude: ['a'] }]])).toBe('A B A B A B!')
    expect(await seen('A B A B A B', [[guard, { include: ['a'] }]])).toBe('A B A B A! B')
  })

  it('are calls that are denied, unknown, invalid or late too', async () => {
    await using harness = await stage()
    const { ctx } = harness
    const agent = harness.agent()
    const strict = { type: 'object', required: ['path'] }
    ctx.tools.register({ name: 'strict', description: '', parameters: strict, execute: () => 'unreachable' })
    ctx.on('tools/pre-execute', async (exec, next) => (exec.name === 'b' ? { kind: 'deny', reason: 'not today' } : next()))
    for (const name of ['b', 'nobody', 'strict']) {
      const counts: number[] = []
      for (let call = 0; call < 3; call++)
        counts.push((await execute(ctx, { name, arguments: {} }, { agent })).additionalContexts?.length ?? 0)
      expect([name, ...counts]).toEqual([name, 0, 0, 1])
    }
  })

  it('are not those inside of another call, nor those without an agent', async () => {
    await using harness = await stage()
    const { ctx } = harness
    const agent = harness.agent()
    const fail = { name: 'nobody', arguments: {} }
    for (let call = 0; call < 4; call++) {
      expect((await execute(ctx, fail, { agent, parent: Symbol('enclosing') as never })).additionalContexts).toBeUndefined()
      expect((await execute(ctx, fail)).additionalContexts).toBeUndefined()
    }
    expect((await execute(ctx, fail, { agent })).additionalContexts).toBeUndefined()
  })

  it('may be told by the text of a result, as that of a shell', async () => {
    await using harness = await stage([[guard, { errors: '^\\[exit code: ' }]])
    const { ctx } = harness
    const agent = harness.agent()
    let run = 0
    ctx.tools.register({ name: 'bash', description: '', parameters: {}, execute: () => `run ${++run} failed\n[exit code: 1]` })
    const said: boolean[] = []
    for (let call = 0; call < 3; call++)
      said.push((await execute(ctx, { name: 'bash', arguments: {} }, { agent })).additionalContexts !== undefined)
    expect(said).toEqual([false, false, true])
  })
})

describe('beside the reminder of repeated calls', () => {
  it.each([
    ['that one speaks while the call comes in a row', 'A A A A A', 'A A A? A A?'],
    ['this one where other calls lie between', 'A x A x A', 'A x A x A!'],
    ['each of its own call', 'A B A B A B B B', 'A B A B A! B! B B?'],
    ['a run that the user ended is none', 'A A U A A x A', 'A A A A x A!'],
    ['not both in one step, the run to come', 'A x A x AAA', 'A x A x AAA?'],
    ['a call that comes twice in a step, and no run', 'A x A x AA', 'A x A x AA!'],
  ])('%s', async (_title, trace, log) => {
    expect(await seen(trace, both)).toBe(log)
    expect(await seen(trace, [...both].reverse())).toBe(log)
  })

  it('reads how that one is set: its thresholds, its tools, its gate', async () => {
    expect(await seen('A A A A A', [guard, [repeatToolReminder, { thresholds: [4] }]])).toBe('A A A! A? A')
    expect(await seen('A A A A A', [guard, [repeatToolReminder, { exclude: ['a'] }]])).toBe('A A A! A A!')
    expect(await seen('A x A x A', [guard, [repeatToolReminder, { exclude: ['x'] }]])).toBe('A x A x A?')
    expect(
      await seen('1 2 1 1 1 1 1', [
        [guard, { thresholds: [2, 3] }],
        [repeatToolReminder, { results: 'unchanged', thresholds: [4] }],
      ]),
    ).toBe('A A A A! A! A? A')
  })

  it('speaks again once that one is unloaded, and is silent once it is loaded', async () => {
    await using harness = await stage()
    const agent = harness.agent()
    const other = await harness.ctx.plugin(repeatToolReminder, { thresholds: [2, 3] })
    await play(harness, agent, 'A A A')
    await other.dispose()
    await play(harness, agent, 'A A', 'P')
    expect(heard(agent)).toBe('A A? A? A A!')
  })

  it('hears of one that belongs to an agent, for that agent alone', async () => {
    await using harness = await stage()
    const [one, two] = [harness.agent(), harness.agent()]
    await one.ctx.plugin(repeatToolReminder, {})
    for (const agent of [one, two]) await play(harness, agent, 'A A A')
    expect([heard(one), heard(two)]).toEqual(['A A A?', 'A A A!'])
  })

  it('one that it does not understand is none', async () => {
    const foreign = {
      name: 'repeat-tool-reminder',
      apply: (ctx: Context) => void ctx.on('tools/post-execute', (_exec, _result, next) => next()),
    }
    expect(await seen('A A A', [guard, [foreign, { thresholds: 'many' }]])).toBe('A A A!')
  })
})
