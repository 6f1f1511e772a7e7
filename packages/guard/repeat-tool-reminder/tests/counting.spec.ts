import { Context } from '@deepseek-ai/cordis'
import { createHarness, fakeClock, gate } from '@loopguard/testkit'
import * as timeoutPolicy from '@loopguard/timeout-policy'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { execute, heard, pluginMessage, play, postExecute, stage, CALLS, textOf, isReminder } from './stage.ts'
import * as reminder from '@loopguard/repeat-tool-reminder'

// A busy machine takes its time.
vi.setConfig({ testTimeout: 60_000 })

const harnesses: { dispose(): Promise<void>; readonly log: readonly unknown[] }[] = []
const open: typeof stage = async (...args) => {
  const harness = await stage(...args)
  harnesses.push(harness)
  return harness
}

afterEach(async () => {
  for (const harness of harnesses.splice(0)) {
    await harness.dispose()
    if (harness.log.length > 0) throw new Error(`logged at error level: ${JSON.stringify(harness.log)}`)
  }
})

describe('traces, as the log tells them', () => {
  it.each([
    ['at 3, 5, 8, then silence', 'A A A A A A A A A A A A', 'A A A ! A A !5 A A A !8 A A A A'],
    ['armed again by another call', 'A A A B A A A', 'A A A ! B A A A !'],
    ['two calls take turns', 'A B A B A B A B', 'A B A B A B A B'],
    ['a step that is only text does not defeat it', 'A text A A', 'A A A !'],
    ['turns do not defeat it', 'A P A P A', 'A A A !'],
    ['a user starts it afresh', 'A A U A', 'A A A'],
    ['a user starts it afresh, and it counts on', 'A A U A A A', 'A A A A A !'],
    ['a plugin does not', 'A A P A', 'A A A !'],
    ['an excluded call neither counts nor resets', 'A A X A', 'A A X A !'],
    ['excluded calls are never reminded of', 'X X X X X', 'X X X X X'],
    ['excluded calls in a batch', 'AXA XA', 'A X A X A !'],
    ['denied calls count', 'D D D', 'D D D !'],
    ['calls with arguments that do not fit count', 'I I I', 'I I I !'],
    ['calls with arguments that are no JSON count', 'M M M', 'M M M !'],
    ['calls of a tool that nobody has count', 'N N N', 'N N N !'],
    ['calls that throw count', 'T T T', 'T T T !'],
    ['a batch counts each call, and reminds after the last result', 'AAAAAAAA', 'A A A A A A A A ! !5 !8'],
    ['a batch that is not all one call', 'AABAAA', 'A A B A A A !'],
    ['batches and steps add up', 'AA A AA', 'A A A ! A A !5'],
    ['a nested call is not seen', 'O O O O O O O O O O', 'O O O ! O O !5 O O O !8 O O'],
    ['a nested call does not count for its own kind', 'A O A O A', 'A O A O A'],
    ['a call that concludes the turn counts, but nobody would read a reminder', 'C P C P C P C P C', 'C C C C C'],
    ['a concluded turn does not silence other calls of its batch', 'A A AC', 'A A A C !'],
  ])('%s', async (_title, trace, expected) => {
    const harness = await open({ exclude: ['note_*'] })
    const agent = harness.agent()
    await play(harness, agent, trace)
    expect(heard(agent)).toBe(expected)
  })

  it.each([
    ['one threshold: the gentle text only', { thresholds: [2] }, 'A A A A', 'A A ! A A'],
    ['any order', { thresholds: [4, 2, 3] }, 'A A A A A', 'A A ! A !3 A !4 A'],
    ['only what is included', { include: ['n*'] }, 'A A A X X X', 'A A A X X X !'],
    ['what is not included is transparent', { include: ['look'] }, 'A D A X A', 'A D A X A !'],
    ['excluded though included', { include: ['*'], exclude: ['look'] }, 'A A A X X X', 'A A A X X X !'],
    ['everything excluded', { exclude: ['*'] }, 'A A A', 'A A A'],
  ])('%s', async (_title, config, trace, expected) => {
    const harness = await open(config)
    const agent = harness.agent()
    await play(harness, agent, trace)
    expect(heard(agent)).toBe(expected)
  })

  it('the model reads the reminder with its next request, after all results of the step', async () => {
    const harness = await open()
    await play(harness, harness.agent(), 'A A AX')
    const last = harness.model.requests.at(-1)?.messages.slice(-4) ?? []
    expect(last.map(({ role, content }) => `${role} ${content.map(({ type }) => type).join()}`)).toEqual([
      'assistant tool-call,tool-call',
      'user tool-result',
      'user tool-result',
      'user text',
    ])
    expect(last.at(-1)?.source).toEqual({ kind: 'plugin', plugin: 'repeat-tool-reminder' })
  })

  it('keys in another order are the same call', async () => {
    const harness = await open()
    const agent = harness.agent()
    const texts = ['{"x":1,"y":{"b":2,"a":1}}', '{"y":{"a":1,"b":2},"x":1}', '{ "y": {"b":2,"a":1}, "x": 1.0 }']
    for (const raw of texts) harness.model.push({ calls: [{ name: 'look', arguments: raw }] })
    harness.model.push({ text: 'done' })
    await harness.say(agent, 'go')
    expect(heard(agent)).toBe('? ? ? !')
  })

  it.each([
    ['an own __proto__', ['{"__proto__":{"a":1}}', '{"__proto__":{"a":2}}', '{}']],
    ['numbers out of range', ['{"n":1e999,"a":1}', '{"n":1e999,"a":2}', '{"n":1e999,"a":3}']],
  ])('three different calls stay three: %s', async (_title, texts) => {
    const harness = await open()
    const agent = harness.agent()
    for (const raw of texts) harness.model.push({ calls: [{ name: 'look', arguments: raw }] })
    harness.model.push({ text: 'done' })
    await harness.say(agent, 'go')
    expect(heard(agent)).toBe('? ? ?')
  })

  it.each([3_000, 100_000])(
    'arguments %d levels deep count, and the result stays what it is',
    async (depth) => {
      const harness = await open()
      const agent = harness.agent()
      const raw = `${'[{"a":'.repeat(depth / 2)}0${'}]'.repeat(depth / 2)}`
      for (let time = 0; time < 5; time++) harness.model.push({ calls: [{ name: 'look', arguments: raw }] })
      harness.model.push({ text: 'done' })
      await harness.say(agent, 'go')
      expect(heard(agent)).toBe('? ? ? ! ? ? !5')
      const results = agent.session.events.filter(({ type }) => type === 'tool/result')
      expect(results.map(({ data }) => data)).toEqual(
        results.map(() => expect.not.objectContaining({ error: expect.anything() as unknown })),
      )
    },
    60_000,
  )

  it('a tool name with a line break is matched by a star', async () => {
    const harness = await open({ exclude: ['*'] })
    const agent = harness.agent()
    for (let time = 0; time < 3; time++) harness.model.push({ calls: [{ name: 'a\nb', arguments: {} }] })
    harness.model.push({ text: 'done' })
    await harness.say(agent, 'go')
    expect(heard(agent)).toBe('? ? ?')
  })
})

describe('agents', () => {
  it('each has a chain of its own, though they share the tools', async () => {
    const harness = await open()
    const [one, two] = [harness.agent(), harness.agent()]
    await play(harness, one, 'A A')
    await play(harness, two, 'A A')
    await play(harness, one, 'B', 'P')
    await play(harness, two, 'A', 'P')
    expect([heard(one), heard(two)]).toEqual(['A A B', 'A A A !'])
  })

  it("a child's calls and its user's messages leave the parent's chain alone", async () => {
    const harness = await open()
    const parent = harness.agent({ id: 'parent' })
    await play(harness, parent, 'A A')
    const child = parent.ctx.agentLoop.create('child' as typeof parent.id, parent.options)
    await play(harness, child, 'A')
    await play(harness, parent, 'A', 'P')
    expect([heard(parent), heard(child)]).toEqual(['A A A !', 'A'])
  })

  it('one that follows another of its id starts afresh', async () => {
    const harness = await open()
    const gone = harness.agent({ id: 'again' })
    await play(harness, gone, 'A A')
    await gone.dispose()
    const next = harness.agent({ id: 'again' })
    await play(harness, next, 'A A', 'P')
    expect(heard(next)).toBe('A A')
  })

  it('two of one id, which another host may have, share no chain', async () => {
    const { ctx } = await open({ thresholds: [2] })
    const [one, two] = [{ id: 'same' }, { id: 'same' }]
    const made: boolean[] = []
    for (const agent of [one, two, one, two]) {
      const decision = await postExecute(ctx, { ...CALLS.A, agent }, {}, async () => ({ kind: 'accept' }))
      made.push((decision.additionalContexts ?? []).length > 0)
    }
    expect(made).toEqual([false, false, true, true])
  })

  it('a call without an agent, and one that another call encloses, is not seen', async () => {
    const harness = await open()
    const agent = harness.agent()
    for (let time = 0; time < 5; time++) {
      expect(await execute(harness.ctx, CALLS.A)).not.toHaveProperty('additionalContexts')
      expect(await execute(harness.ctx, CALLS.A, { agent, parent: Symbol('enclosing') })).not.toHaveProperty('additionalContexts')
    }
    expect(await execute(harness.ctx, CALLS.A, { agent })).not.toHaveProperty('additionalContexts')
  })

  it('a call that was aborted before it began is not seen', async () => {
    const harness = await open()
    const agent = harness.agent()
    for (let time = 0; time < 3; time++) await execute(harness.ctx, CALLS.A, { agent, signal: AbortSignal.abort() })
    expect(await execute(harness.ctx, CALLS.A, { agent })).not.toHaveProperty('additionalContexts')
  })
})

describe('what happens in a turn', () => {
  it('a step that is only text within a turn does not defeat it', async () => {
    const harness = await open()
    const agent = harness.agent()
    let pushed = false
    harness.ctx.on('agent/turn-stopping', () => {
      if (!pushed) agent.steer(pluginMessage())
      pushed = true
    })
    for (const calls of [[CALLS.A], undefined, [CALLS.A], [CALLS.A], undefined])
      harness.model.push(calls === undefined ? { text: 'hm' } : { calls })
    await harness.say(agent, 'go')
    expect(agent.session.events.filter(({ type }) => type === 'turn/start')).toHaveLength(1)
    expect(heard(agent)).toBe('A A A !')
  })

  it('a user who steers in the middle of a turn starts it afresh', async () => {
    const harness = await open()
    const agent = harness.agent()
    harness.model.push({ calls: [CALLS.A] }, () => {
      agent.steer({ ...pluginMessage(), source: { kind: 'user' } })
      return { calls: [CALLS.A] }
    })
    harness.model.push({ calls: [CALLS.A] }, { calls: [CALLS.A] }, { text: 'done' })
    await harness.say(agent, 'go')
    expect(heard(agent)).toBe('A A A A')
  })

  it('a request that fails after the call was streamed, and is tried again, counts the call when it is made', async () => {
    const harness = await open()
    const agent = harness.agent()
    harness.ctx.on('agent/request-error', async () => ({ kind: 'retry' }))
    const failure = { message: 'reset', code: 'NETWORK' }
    for (let time = 0; time < 2; time++) {
      harness.model.push({ calls: [CALLS.A], finish: { kind: 'error', failure } }, { calls: [CALLS.A] })
    }
    harness.model.push({ text: 'done' })
    await harness.say(agent, 'go')
    expect(heard(agent)).toBe('A A')
  })

  it('a user message of a step that is then rejected has been said all the same', async () => {
    const harness = await open()
    const agent = harness.agent()
    await play(harness, agent, 'A A')
    const off = harness.ctx.on('agent/pre-step', async () => ({ kind: 'reject' }), { prepend: true })
    await harness.say(agent, 'never mind')
    off()
    await play(harness, agent, 'A A', 'P')
    // The rejecting listener stood before the guard and did not delegate: the guard never heard of the message.
    expect(heard(agent)).toBe('A A A ! A')
  })

  it('a listener that rejects after the guard does not hide the message from it', async () => {
    const harness = await open()
    const agent = harness.agent()
    await play(harness, agent, 'A A')
    const off = harness.ctx.on('agent/pre-step', async () => ({ kind: 'reject' }))
    await harness.say(agent, 'never mind')
    off()
    await play(harness, agent, 'A A', 'P')
    expect(heard(agent)).toBe('A A A A')
  })
})

describe('wrappers that fail', () => {
  it.each(['tools/pre-execute', 'tools/execute'] as const)('calls that fail because a listener of %s throws count', async (event) => {
    const harness = await open()
    const agent = harness.agent()
    harness.ctx.on(event, () => {
      throw new Error('broken wrapper')
    })
    await play(harness, agent, 'A A A A A A A A A A')
    expect(heard(agent)).toBe('A A A ! A A !5 A A A !8 A A')
  })
})

it('calls that time out count, with both guards in one composition', async () => {
  using clock = fakeClock()
  const harness = await open(undefined, [timeoutPolicy])
  const started = Array.from({ length: 5 }, () => gate())
  let calls = 0
  harness.ctx.tools.register({
    name: 'hangs',
    description: '',
    parameters: {},
    timeoutMs: 50,
    execute: (_args, { signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
        started[calls++]?.open()
      }),
  })
  const agent = harness.agent()
  harness.model.push({ calls: [{ name: 'hangs', arguments: {} }], repeat: 5 }, { text: 'done' })
  const said = harness.say(agent, 'go')
  for (const each of started) {
    await each.opened
    await clock.advance(50)
  }
  await said
  expect(heard(agent)).toBe('? ? ? ! ? ? !5')
  const codes = agent.session.events.flatMap(({ type, data }) => (type === 'tool/result' ? [data.error?.code] : []))
  expect(codes).toEqual(Array.from({ length: 5 }, () => 'TOOL_TIMEOUT'))
})

describe('the plugin comes and goes', () => {
  it('unloaded it is silent; loaded again it starts afresh, and reminds once', async () => {
    const harness = await createHarness()
    harnesses.push(harness)
    harness.ctx.tools.register({ name: 'look', description: '', parameters: {}, execute: () => 'nothing new' })
    const agent = harness.agent()
    const fiber = await harness.ctx.plugin(reminder)
    await play(harness, agent, 'A A')
    await fiber.dispose()
    await play(harness, agent, 'A A A', 'P')
    await harness.ctx.plugin(reminder)
    await play(harness, agent, 'A A A', 'P')
    expect(heard(agent)).toBe('A A A A A A A A !')
  })

  it('restarted it starts afresh', async () => {
    const harness = await createHarness()
    harnesses.push(harness)
    harness.ctx.tools.register({ name: 'look', description: '', parameters: {}, execute: () => 'nothing new' })
    const agent = harness.agent()
    const fiber = await harness.ctx.plugin(reminder)
    await play(harness, agent, 'A A')
    await fiber.restart()
    await play(harness, agent, 'A A A', 'P')
    expect(heard(agent)).toBe('A A A A A !')
  })

  it('nothing of it is left on the bus', async () => {
    const ctx = new Context()
    const listeners = (): number[] =>
      ['tools/post-execute', 'agent/pre-step'].map((event) => ctx.events.dispatch('waterfall', [event]).length)
    const fiber = await ctx.plugin(reminder)
    expect(listeners()).toEqual([1, 1])
    await fiber.dispose()
    expect(listeners()).toEqual([0, 0])
  })

  it('loaded twice, each copy reminds: it is configured twice', async () => {
    const harness = await open(undefined, [[reminder, { thresholds: [2] }]])
    const agent = harness.agent()
    await play(harness, agent, 'A A A')
    expect(heard(agent)).toBe('A A ! A !')
  })
})

it('the reminders of a whole trace are frozen messages with ids of their own', async () => {
  const harness = await open()
  const agent = harness.agent()
  await play(harness, agent, 'A A A A A A A A')
  const reminders = agent.session.events.flatMap(({ type, data }) => (type === 'user/message' && isReminder(data) ? [data] : []))
  expect(new Set(reminders.map(({ id }) => id)).size).toBe(3)
  expect(new Set(reminders.map(textOf)).size).toBe(3)
})
