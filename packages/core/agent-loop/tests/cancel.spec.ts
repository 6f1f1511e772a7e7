import { describe, expect, it } from 'vitest'
import { LlmAdapter, type StreamChunk } from '@loopguard/llm'
import { createHarness, gate, userMessage } from '@loopguard/testkit'
import { phases, reach } from './support/phases.ts'
import { story, words } from './support/story.ts'
import { Streams } from './support/streams.ts'
import { tool } from './support/tools.ts'

const start = ['queued next-turn: hi']
const waits = ['queued next-step: aside', 'queued next-turn: later']

describe.each(phases)('a cancel $name', (phase) => {
  it('ends the turn as aborted and discards what waits', async () => {
    await using at = await reach(phase)
    const { agent, harness } = at
    agent.inject(userMessage('aside'))
    agent.followup(userMessage('later'))
    agent.cancel()
    expect(agent.status).toBe('running')
    expect(agent.inbox.hasPending).toBe(false)
    at.go()
    await agent.whenIdle()
    expect(story(agent.session)).toEqual([
      ...start,
      ...phase.before,
      ...waits,
      `discarded: ${phase.unentered === true ? 'hi, ' : ''}aside, later`,
      ...phase.after,
      'end 1 aborted by user',
    ])
    expect(harness.log).toEqual([])
    expect(agent.status).toBe('idle')
  })

  it('with keepInbox what waits is there for the next wake', async () => {
    await using at = await reach(phase)
    const { agent } = at
    agent.inject(userMessage('aside'))
    agent.followup(userMessage('later'))
    agent.cancel({ kind: 'pause' }, { keepInbox: true })
    at.go()
    await agent.whenIdle()
    expect(story(agent.session)).toEqual([...start, ...phase.before, ...waits, ...phase.after, 'end 1 aborted by pause'])
    expect(agent.inbox.nextStep.map(words)).toEqual(['aside'])
    expect(agent.inbox.nextTurn.map(words)).toEqual(phase.unentered === true ? ['hi', 'later'] : ['later'])
  })

  it('twice is once: the first cause stays, and the second clears what came in between', async () => {
    await using at = await reach(phase)
    const { agent } = at
    agent.cancel({ kind: 'first' }, { keepInbox: true })
    agent.followup(userMessage('between'))
    agent.cancel({ kind: 'second' })
    at.go()
    await agent.whenIdle()
    expect(story(agent.session)).toEqual([
      ...start,
      ...phase.before,
      'queued next-turn: between',
      `discarded: ${phase.unentered === true ? 'hi, ' : ''}between`,
      ...phase.after,
      'end 1 aborted by first',
    ])
  })

  it.each(['followup', 'steer'] as const)('a message sent by %s while it converges starts a new turn then', async (door) => {
    await using at = await reach(phase)
    const { agent, harness } = at
    const statuses: string[] = []
    harness.ctx.on('agent/status', ({ status }) => void statuses.push(status))
    harness.ctx.on('agent/pre-step', ({ turn }, next) => (turn === 2 ? Promise.resolve({ kind: 'reject' }) : next()), { prepend: true })
    agent.cancel()
    agent[door](userMessage('now this'))
    at.go()
    await agent.whenIdle()
    expect(story(agent.session)).toEqual([
      ...start,
      ...phase.before,
      ...(phase.unentered === true ? ['discarded: hi'] : []),
      `queued ${door === 'steer' ? 'next-step' : 'next-turn'}: now this`,
      ...phase.after,
      'end 1 aborted by user',
      'turn 2',
      'claimed: now this',
      'end 2 blocked',
    ])
    expect(statuses).toEqual(['idle'])
  })

  it('a message injected while it converges waits', async () => {
    await using at = await reach(phase)
    const { agent } = at
    agent.cancel()
    agent.inject(userMessage('note'))
    at.go()
    await agent.whenIdle()
    expect(story(agent.session).at(-1)).toBe('end 1 aborted by user')
    expect(agent.inbox.nextStep.map(words)).toEqual(['note'])
  })
})

describe('a cancel', () => {
  it('of an idle agent clears the inbox and does nothing else', async () => {
    await using harness = await createHarness({ script: [{ text: 'ok' }] })
    const agent = harness.agent()
    agent.cancel()
    agent.inject(userMessage('note'))
    agent.cancel({ kind: 'pause' }, { keepInbox: true })
    expect(agent.inbox.hasPending).toBe(true)
    agent.cancel()
    expect(agent.inbox.hasPending).toBe(false)
    expect(agent.status).toBe('idle')
    await harness.say(agent, 'hi')
    expect(story(agent.session)).toEqual([
      'queued next-step: note',
      'discarded: note',
      'queued next-turn: hi',
      'turn 1',
      'step 1.1',
      'user hi',
      'claimed: hi',
      'model ok',
      'end 1.1',
      'end 1 completed',
    ])
  })

  it('in the same breath as the message starts no turn', async () => {
    await using harness = await createHarness()
    const agent = harness.agent()
    const statuses: string[] = []
    harness.ctx.on('agent/status', ({ status }) => void statuses.push(status))
    agent.followup(userMessage('hi'))
    agent.cancel()
    await agent.whenIdle()
    expect(story(agent.session)).toEqual(['queued next-turn: hi', 'discarded: hi'])
    expect(statuses).toEqual(['running', 'idle'])
  })

  it('in the same breath, with a message after it, starts a turn for that message alone', async () => {
    await using harness = await createHarness({ script: [{ text: 'ok' }] })
    const agent = harness.agent()
    agent.followup(userMessage('no'))
    agent.cancel()
    agent.followup(userMessage('yes'))
    await agent.whenIdle()
    expect(story(agent.session)).toEqual([
      'queued next-turn: no',
      'discarded: no',
      'queued next-turn: yes',
      'turn 1',
      'step 1.1',
      'user yes',
      'claimed: yes',
      'model ok',
      'end 1.1',
      'end 1 completed',
    ])
  })

  it('from a listener of the new status cancels what has just begun', async () => {
    await using harness = await createHarness()
    const agent = harness.agent()
    harness.ctx.on('agent/status', ({ status }) => {
      if (status === 'running') agent.cancel({ kind: 'veto' })
    })
    await harness.say(agent, 'hi')
    expect(story(agent.session)).toEqual(['queued next-turn: hi', 'discarded: hi'])
  })

  it.each<[string, string[], string?]>([
    ['turn/start', ['turn 1', 'discarded: later'], 'hi'],
    ['step/start', ['turn 1', 'step 1.1', 'discarded: later', 'user hi', 'claimed: hi', 'end 1.1']],
    ['user/message', ['turn 1', 'step 1.1', 'user hi', 'discarded: later', 'claimed: hi', 'end 1.1']],
    ['request/header', ['turn 1', 'step 1.1', 'user hi', 'claimed: hi', 'discarded: later', 'end 1.1']],
    [
      'assistant/message',
      [
        'turn 1',
        'step 1.1',
        'user hi',
        'claimed: hi',
        'model [call_1 look({})]',
        'discarded: later',
        'call call_1',
        'result call_1 failed ABORTED_BEFORE_DISPATCH',
        'end 1.1',
      ],
    ],
    [
      'tool/call',
      [
        'turn 1',
        'step 1.1',
        'user hi',
        'claimed: hi',
        'model [call_1 look({})]',
        'call call_1',
        'discarded: later',
        'result call_1 failed ABORTED_BEFORE_DISPATCH',
        'end 1.1',
      ],
    ],
    [
      'tool/result',
      [
        'turn 1',
        'step 1.1',
        'user hi',
        'claimed: hi',
        'model [call_1 look({})]',
        'call call_1',
        'result call_1: ok',
        'discarded: later',
        'end 1.1',
      ],
    ],
  ])('on the event %s stops the turn there: what has entered stays entered', async (on, lines, unclaimed) => {
    await using harness = await createHarness({ script: [{ calls: [{ name: 'look', arguments: {} }] }], tools: [tool('look')] })
    const agent = harness.agent()
    harness.ctx.on('session/event', (_session, { type }) => {
      if (type === on) agent.cancel()
    })
    agent.followup(userMessage('hi'))
    agent.followup(userMessage('later'))
    await agent.whenIdle()
    const expected =
      unclaimed === undefined ? lines : lines.map((line) => line.replace('discarded: later', `discarded: ${unclaimed}, later`))
    expect(story(agent.session)).toEqual(['queued next-turn: hi', 'queued next-turn: later', ...expected, 'end 1 aborted by user'])
    expect(harness.model.count).toBe(lines.length > 6 ? 1 : 0)
  })

  it('at the start of a turn asks no pre-step', async () => {
    await using harness = await createHarness()
    const agent = harness.agent()
    let asked = 0
    harness.ctx.on('agent/pre-step', (_event, next) => (asked++, next()))
    harness.ctx.on('session/event', (_session, { type }) => {
      if (type === 'turn/start') agent.cancel({ kind: 'pause' }, { keepInbox: true })
    })
    await harness.say(agent, 'hi')
    expect(story(agent.session)).toEqual(['queued next-turn: hi', 'turn 1', 'end 1 aborted by pause'])
    expect([asked, agent.inbox.nextTurn.map(words)]).toEqual([0, ['hi']])
  })

  it('on the end of a turn stops the driver, and keeps what it is asked to keep', async () => {
    for (const keepInbox of [false, true]) {
      await using harness = await createHarness({ script: [{ text: 'ok' }] })
      const agent = harness.agent()
      harness.ctx.on('session/event', (_session, { type }) => {
        if (type === 'turn/end') agent.cancel({ kind: 'user' }, { keepInbox })
      })
      agent.followup(userMessage('hi'))
      agent.followup(userMessage('later'))
      await agent.whenIdle()
      expect(story(agent.session).at(-1)).toBe(keepInbox ? 'end 1 completed' : 'discarded: later')
      expect(agent.inbox.nextTurn.map(words)).toEqual(keepInbox ? ['later'] : [])
    }
  })

  it('at any moment around the end of a turn stops the driver', async () => {
    for (let delay = 0; delay < 24; delay++) {
      await using harness = await createHarness({ script: [{ text: 'ok' }, () => (asked.open(), 'hang')] })
      const asked = gate()
      const cancelled = gate()
      const agent = harness.agent()
      harness.ctx.on('session/event', async (_session, event) => {
        if (event.type !== 'turn/end' || event.data.turn !== 1) return
        for (let tick = 0; tick < delay; tick++) await Promise.resolve()
        agent.cancel()
        cancelled.open()
      })
      agent.followup(userMessage('hi'))
      agent.followup(userMessage('later'))
      await cancelled.opened
      await agent.whenIdle()
      expect({ delay, end: story(agent.session).at(-1), pending: agent.inbox.hasPending }).toEqual({
        delay,
        end: expect.stringMatching(/^(discarded: later|end 2 aborted by user)$/),
        pending: false,
      })
    }
  })

  it('keeps a claimed message in front of those that were queued meanwhile', async () => {
    const reached = gate()
    const more = gate()
    await using harness = await createHarness()
    const agent = harness.agent()
    harness.ctx.on('agent/pre-step', async (_event, next) => {
      reached.open()
      await more.opened
      return next()
    })
    agent.inject(userMessage('a'))
    agent.followup(userMessage('b'))
    await reached.opened
    agent.inject(userMessage('c'))
    agent.followup(userMessage('d'))
    agent.cancel({ kind: 'pause' }, { keepInbox: true })
    more.open()
    await agent.whenIdle()
    expect(agent.inbox.nextStep.map(words)).toEqual(['a', 'c'])
    expect(agent.inbox.nextTurn.map(words)).toEqual(['b', 'd'])
  })

  it.each(['followup', 'steer'] as const)('a message that a listener of the signal sends by %s is not lost', async (door) => {
    const started = gate()
    await using harness = await createHarness({
      script: [{ calls: [{ name: 'wait', arguments: {} }] }, { text: 'ok' }],
      tools: [
        tool('wait', async (_args, { signal }) => {
          signal.addEventListener('abort', () => agent[door](userMessage('anew')))
          started.open()
          await gate().wait(signal)
          return 'unreachable'
        }),
      ],
    })
    const agent = harness.agent()
    agent.followup(userMessage('hi'))
    await started.opened
    agent.inject(userMessage('old'))
    agent.cancel()
    await agent.whenIdle()
    const lines = story(agent.session)
    expect(lines.slice(lines.indexOf('queued next-step: old'))).toEqual([
      'queued next-step: old',
      'discarded: old',
      `queued ${door === 'steer' ? 'next-step' : 'next-turn'}: anew`,
      'result call_1 failed CANCELLED',
      'end 1.1',
      'end 1 aborted by user',
      'turn 2',
      'step 2.1',
      'user anew',
      'claimed: anew',
      'model ok',
      'end 2.1',
      'end 2 completed',
    ])
  })

  it.each([true, false])(
    'from a pre-step that then throws (keepInbox %s): what was claimed is kept or discarded as asked',
    async (keepInbox) => {
      await using harness = await createHarness()
      const agent = harness.agent()
      harness.ctx.on('agent/pre-step', () => {
        agent.cancel({ kind: 'pause' }, { keepInbox })
        throw new Error('no entry')
      })
      agent.inject(userMessage('note'))
      agent.followup(userMessage('hi'))
      await agent.whenIdle()
      expect(story(agent.session).slice(2)).toEqual(['turn 1', ...(keepInbox ? [] : ['discarded: note, hi']), 'end 1 aborted by pause'])
      expect([agent.inbox.nextStep, agent.inbox.nextTurn].map((queue) => queue.map(words))).toEqual(
        keepInbox ? [['note'], ['hi']] : [[], []],
      )
      expect(harness.log).toEqual([])
    },
  )

  it('a message that a listener sends on hearing of the discarding is not lost', async () => {
    await using at = await reach(phases[1]!)
    const { agent, harness } = at
    harness.model.push({ text: 'ok' })
    agent.inject(userMessage('aside'))
    harness.ctx.on('session/event', (_session, event) => {
      if (event.type === 'inbox/removed' && event.data.cause === 'discarded') agent.followup(userMessage('anew'))
    })
    agent.cancel()
    await agent.whenIdle()
    expect(story(agent.session).slice(-7)).toEqual([
      'turn 2',
      'step 2.1',
      'user anew',
      'claimed: anew',
      'model ok',
      'end 2.1',
      'end 2 completed',
    ])
  })

  it.each([null, 'stop', 5, {}, { kind: 1 }])('refuses the cause %j and cancels nothing', async (cause) => {
    await using at = await reach(phases[1]!)
    expect(() => at.agent.cancel(cause as never)).toThrow(expect.objectContaining({ code: 'BAD_CANCEL_CAUSE' }))
    expect(() => at.agent.cancel({ kind: 'user', more: () => 1 } as never)).toThrow(expect.objectContaining({ code: 'NOT_JSON' }))
    expect(story(at.agent.session).at(-1)).toBe('claimed: hi')
  })

  it('hands its cause to what runs, through the signal', async () => {
    const heard = gate()
    let reason: unknown
    await using harness = await createHarness({
      script: [{ calls: [{ name: 'wait', arguments: {} }] }],
      tools: [
        tool('wait', async (_args, { signal }) => {
          heard.open()
          await gate()
            .wait(signal)
            .catch((thrown: unknown) => (reason = thrown))
          return 'stopped'
        }),
      ],
    })
    const agent = harness.agent()
    agent.followup(userMessage('hi'))
    await heard.opened
    agent.cancel({ kind: 'budget' })
    await agent.whenIdle()
    expect(reason).toMatchObject({ code: 'CANCELLED', message: expect.stringContaining('budget'), cause: { kind: 'budget' } })
  })
})

describe('a model that does not listen to the abort', () => {
  it('is waited for, and what it says to its end is its answer: its calls do not run', async () => {
    const asked = gate()
    const more = gate()
    class Deaf extends LlmAdapter {
      async *stream(): AsyncGenerator<StreamChunk> {
        yield { type: 'block-start', index: 0, blockType: 'tool-call' }
        asked.open()
        await more.opened
        yield { type: 'block-end', index: 0, block: { type: 'tool-call', id: 'a' as never, name: 'look', arguments: '{}' } }
        yield { type: 'finish', reason: { kind: 'tool-calls' } }
      }
    }
    await using harness = await createHarness({ adapter: new Deaf(), tools: [tool('look')] })
    const agent = harness.agent()
    agent.followup(userMessage('hi'))
    await asked.opened
    agent.cancel()
    more.open()
    await agent.whenIdle()
    expect(story(agent.session).slice(-5)).toEqual([
      'model [a look({})]',
      'call a',
      'result a failed ABORTED_BEFORE_DISPATCH',
      'end 1.1',
      'end 1 aborted by user',
    ])
  })

  it('a partial message keeps text and reasoning, in order, and no call', async () => {
    const said = gate()
    const adapter = new Streams(async function* ({ signal }) {
      yield { type: 'block-start', index: 0, blockType: 'reasoning' }
      yield { type: 'reasoning-delta', index: 0, text: 'hm' }
      yield { type: 'block-end', index: 0, block: { type: 'reasoning', text: 'hm' } }
      yield { type: 'block-start', index: 1, blockType: 'tool-call' }
      yield { type: 'block-end', index: 1, block: { type: 'tool-call', id: 'a' as never, name: 'look', arguments: '{}' } }
      yield { type: 'block-start', index: 2, blockType: 'text' }
      yield { type: 'text-delta', index: 2, text: 'I will' }
      yield { type: 'usage', usage: { inputTokens: 3, outputTokens: 2 } }
      said.open()
      await gate().wait(signal)
    })
    await using harness = await createHarness({ adapter, tools: [tool('look')] })
    const agent = harness.agent()
    agent.followup(userMessage('hi'))
    await said.opened
    agent.cancel()
    await agent.whenIdle()
    expect(agent.session.events.find(({ type }) => type === 'assistant/message')?.data).toMatchObject({
      turn: 1,
      step: 1,
      message: {
        content: [
          { type: 'reasoning', text: 'hm' },
          { type: 'text', text: 'I will' },
        ],
      },
      usage: { inputTokens: 3, outputTokens: 2 },
      interrupted: true,
    })
    expect(agent.session.deriveMessages().map(words)).toEqual(['hi', 'hm I will'])
  })
})
