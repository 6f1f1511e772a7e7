import { describe, expect, it } from 'vitest'
import type { Agent } from '@loopguard/agent-loop'
import { createUserMessage, type UserMessage } from '@loopguard/llm'
import { pendingInbox } from '@loopguard/session'
import { createHarness, gate, userMessage } from '@loopguard/testkit'
import { story, words } from './support/story.ts'
import { tool } from './support/tools.ts'
import { veto } from './support/veto.ts'

const waiting = ({ inbox }: Agent) => ({ nextStep: inbox.nextStep.map(words), nextTurn: inbox.nextTurn.map(words), any: inbox.hasPending })

describe('the three doors', () => {
  it('followup queues for a turn, steer and inject for a step; followup and steer wake', async () => {
    await using harness = await createHarness({ script: [{ text: 'ok', repeat: Infinity }] })
    for (const [door, target, status] of [
      ['followup', 'nextTurn', 'running'],
      ['steer', 'nextStep', 'running'],
      ['inject', 'nextStep', 'idle'],
    ] as const) {
      const agent = harness.agent()
      expect(waiting(agent)).toEqual({ nextStep: [], nextTurn: [], any: false })
      agent[door](userMessage('hi'))
      expect(agent.status).toBe(status)
      expect(waiting(agent)).toEqual({ nextStep: [], nextTurn: [], [target]: ['hi'], any: true })
      await agent.whenIdle()
      expect(agent.inbox.hasPending).toBe(door === 'inject')
    }
  })

  it('a turn claims what waits for a step, then one message that waits for a turn', async () => {
    await using harness = await createHarness({ script: [{ text: 'ok', repeat: Infinity }] })
    const agent = harness.agent()
    agent.inject(userMessage('injected'))
    agent.followup(userMessage('first'))
    agent.followup(userMessage('second'))
    agent.steer(userMessage('steered'))
    await agent.whenIdle()
    expect(story(agent.session)).toEqual([
      'queued next-step: injected',
      'queued next-turn: first',
      'queued next-turn: second',
      'queued next-step: steered',
      'turn 1',
      'step 1.1',
      'user injected',
      'user steered',
      'user first',
      'claimed: injected, steered, first',
      'model ok',
      'end 1.1',
      'end 1 completed',
      'turn 2',
      'step 2.1',
      'user second',
      'claimed: second',
      'model ok',
      'end 2.1',
      'end 2 completed',
    ])
  })

  it('while a turn runs, steer and inject reach its next step and followup the next turn', async () => {
    const entered = gate()
    const more = gate()
    await using harness = await createHarness({
      script: [{ calls: [{ name: 'wait', arguments: {} }] }, { text: 'seen' }, { text: 'next' }],
      tools: [
        tool('wait', async () => {
          entered.open()
          await more.opened
          return 'waited'
        }),
      ],
    })
    const agent = harness.agent()
    agent.followup(userMessage('go'))
    await entered.opened
    agent.followup(userMessage('later'))
    agent.inject(userMessage('by the way'))
    agent.steer(userMessage('rather'))
    more.open()
    await agent.whenIdle()
    expect(story(agent.session)).toEqual([
      'queued next-turn: go',
      'turn 1',
      'step 1.1',
      'user go',
      'claimed: go',
      'model [call_1 wait({})]',
      'call call_1',
      'queued next-turn: later',
      'queued next-step: by the way',
      'queued next-step: rather',
      'result call_1: waited',
      'end 1.1',
      'step 1.2',
      'user by the way',
      'user rather',
      'claimed: by the way, rather',
      'model seen',
      'end 1.2',
      'end 1 completed',
      'turn 2',
      'step 2.1',
      'user later',
      'claimed: later',
      'model next',
      'end 2.1',
      'end 2 completed',
    ])
  })

  it('what was injected alone waits for the next wake', async () => {
    await using harness = await createHarness({ script: [{ text: 'ok' }] })
    const agent = harness.agent()
    agent.inject(userMessage('note'))
    await agent.whenIdle()
    expect(story(agent.session)).toEqual(['queued next-step: note'])
    await harness.say(agent, 'go')
    expect(story(agent.session).slice(1, 7)).toEqual([
      'queued next-turn: go',
      'turn 1',
      'step 1.1',
      'user note',
      'user go',
      'claimed: note, go',
    ])
  })
})

describe('a message that is queued already', () => {
  it('is not queued twice, through whatever door it comes', async () => {
    await using harness = await createHarness({ script: [{ text: 'ok' }] })
    const agent = harness.agent()
    const message = userMessage('once')
    agent.followup(message)
    agent.followup(message)
    agent.inject(message)
    agent.steer(structuredClone(message))
    await agent.whenIdle()
    expect(story(agent.session)).toEqual([
      'queued next-turn: once',
      'turn 1',
      'step 1.1',
      'user once',
      'claimed: once',
      'model ok',
      'end 1.1',
      'end 1 completed',
    ])
  })

  it('wakes the agent for nothing when it is sent again while its own step claims it: the agent comes to rest', async () => {
    await using harness = await createHarness({ script: [{ text: 'ok' }] })
    const agent = harness.agent()
    const message = userMessage('once')
    harness.ctx.on('agent/pre-step', (_event, next) => (agent.followup(message), next()))
    agent.followup(message)
    await agent.whenIdle()
    expect(story(agent.session).filter((line) => line.startsWith('turn'))).toEqual(['turn 1'])
    expect(agent.status).toBe('idle')
  })

  it('wakes the agent when it is sent again by followup or steer', async () => {
    await using harness = await createHarness({ script: [{ text: 'ok', repeat: 2 }] })
    for (const door of ['followup', 'steer'] as const) {
      const agent = harness.agent()
      const message = userMessage('note')
      agent.inject(message)
      agent[door](message)
      expect(agent.status).toBe('running')
      await agent.whenIdle()
      expect(story(agent.session)).toEqual([
        'queued next-step: note',
        'turn 1',
        'step 1.1',
        'user note',
        'claimed: note',
        'model ok',
        'end 1.1',
        'end 1 completed',
      ])
    }
  })

  it('can be sent anew once it has left', async () => {
    await using harness = await createHarness({ script: [{ text: 'ok', repeat: 2 }] })
    const agent = harness.agent()
    const message = userMessage('again')
    agent.followup(message)
    await agent.whenIdle()
    agent.followup(message)
    await agent.whenIdle()
    expect(story(agent.session).filter((line) => line.endsWith('again'))).toEqual([
      'queued next-turn: again',
      'user again',
      'claimed: again',
      'queued next-turn: again',
      'user again',
      'claimed: again',
    ])
  })
})

describe('sending from inside a listener', () => {
  it('a message injected on any event of a turn is claimed by the next step, and by none twice', async () => {
    for (const on of ['turn/start', 'step/start', 'user/message', 'assistant/message', 'tool/call', 'tool/result'] as const) {
      await using harness = await createHarness({
        script: [{ calls: [{ name: 'look', arguments: {} }] }, { text: 'seen', repeat: 2 }],
        tools: [tool('look')],
      })
      const agent = harness.agent()
      let left = 1
      harness.ctx.on('session/event', (_session, { type }) => {
        if (type === on && left-- > 0) agent.inject(userMessage(`on ${on}`))
      })
      await harness.say(agent, 'go')
      const lines = story(agent.session)
      expect(lines.filter((line) => line.includes(`on ${on}`))).toEqual([
        `queued next-step: on ${on}`,
        `user on ${on}`,
        on === 'turn/start' ? `claimed: on ${on}, go` : `claimed: on ${on}`,
      ])
      expect(lines.at(-1)).toBe('end 1 completed')
      expect(harness.log).toEqual([])
    }
  })

  it('a message sent on the end of a turn starts the next one', async () => {
    await using harness = await createHarness({ script: [{ text: 'ok', repeat: 2 }] })
    const agent = harness.agent()
    const statuses: string[] = []
    harness.ctx.on('agent/status', ({ status }) => void statuses.push(status))
    harness.ctx.on('session/event', (_session, event) => {
      if (event.type === 'turn/end' && event.data.turn === 1) agent.steer(userMessage('one more'))
    })
    await harness.say(agent, 'go')
    expect(story(agent.session).slice(-8)).toEqual(
      [
        'end 1 completed',
        'queued next-step: one more',
        'turn 2',
        'step 2.1',
        'user one more',
        'claimed: one more',
        'model ok',
        'end 2.1',
        'end 2 completed',
      ].slice(-8),
    )
    expect(statuses).toEqual(['running', 'idle'])
  })

  it('a message injected on the end of a turn waits for the next wake', async () => {
    await using harness = await createHarness({ script: [{ text: 'ok' }] })
    const agent = harness.agent()
    harness.ctx.on('session/event', (_session, { type }) => {
      if (type === 'turn/end') agent.inject(userMessage('note'))
    })
    await harness.say(agent, 'go')
    expect(story(agent.session).slice(-2)).toEqual(['end 1 completed', 'queued next-step: note'])
    expect(waiting(agent).nextStep).toEqual(['note'])
  })

  it('keeps the order of the log and of the queue the same when a listener of the queueing sends more', async () => {
    await using harness = await createHarness({ script: [{ text: 'ok' }] })
    const agent = harness.agent()
    harness.ctx.on('session/event', (_session, event) => {
      if (event.type === 'inbox/queued' && words(event.data.message) === 'first') agent.inject(userMessage('second'))
    })
    agent.inject(userMessage('first'))
    agent.inject(userMessage('third'))
    expect(waiting(agent).nextStep).toEqual(['first', 'second', 'third'])
    expect(story(agent.session)).toEqual(['queued next-step: first', 'queued next-step: second', 'queued next-step: third'])
  })

  it('a message sent at any moment around the end of a turn is never left lying', async () => {
    for (let delay = 0; delay < 24; delay++) {
      await using harness = await createHarness({ script: [{ text: 'ok', repeat: 2 }] })
      const agent = harness.agent()
      const sent = gate()
      harness.ctx.on('session/event', async (_session, event) => {
        if (event.type !== 'turn/end' || event.data.turn !== 1) return
        for (let tick = 0; tick < delay; tick++) await Promise.resolve()
        agent.followup(userMessage('late'))
        sent.open()
      })
      await harness.say(agent, 'go')
      await sent.opened
      await agent.whenIdle()
      expect({ delay, end: story(agent.session).at(-1), pending: agent.inbox.hasPending }).toEqual({
        delay,
        end: 'end 2 completed',
        pending: false,
      })
    }
  })
})

describe('a log that refuses', () => {
  it.each(['followup', 'steer', 'inject'] as const)(
    'a message sent by %s keeps nothing of it, and takes it when it is sent again',
    async (door) => {
      await using harness = await createHarness({ script: [{ text: 'ok' }] })
      const agent = harness.agent()
      const message = userMessage('hi')
      veto(harness.ctx, ({ type }) => type === 'inbox/queued')
      expect(() => agent[door](message)).toThrow(expect.objectContaining({ code: 'VETO' }))
      expect([waiting(agent), agent.status]).toEqual([{ nextStep: [], nextTurn: [], any: false }, 'idle'])
      agent[door](message)
      agent.steer(userMessage('and go'))
      await agent.whenIdle()
      expect(story(agent.session).filter((line) => line.startsWith('user'))).toEqual(
        door === 'followup' ? ['user and go', 'user hi'] : ['user hi', 'user and go'],
      )
    },
  )

  it('the start of a step gets its claim back: it waits in front, for the next wake', async () => {
    await using harness = await createHarness({ script: [{ text: 'ok', repeat: 2 }] })
    const agent = harness.agent()
    veto(harness.ctx, ({ type }) => type === 'step/start')
    agent.inject(userMessage('note'))
    agent.followup(userMessage('first'))
    agent.followup(userMessage('second'))
    await agent.whenIdle()
    expect(story(agent.session).slice(-2)).toEqual(['turn 1', 'end 1 error VETO'])
    expect(waiting(agent)).toEqual({ nextStep: ['note'], nextTurn: ['first', 'second'], any: true })
    expect(pendingInbox(agent.session)).toEqual({ nextStep: agent.inbox.nextStep, nextTurn: agent.inbox.nextTurn })
    agent.steer(userMessage('go'))
    await agent.whenIdle()
    expect(story(agent.session).filter((line) => line.startsWith('claimed'))).toEqual(['claimed: note, go, first', 'claimed: second'])
  })

  it('a message that is to enter, and then its claim, ends the turn with what was refused first', async () => {
    await using harness = await createHarness()
    const agent = harness.agent()
    veto(harness.ctx, ({ type }) => type === 'user/message', { code: 'FIRST' })
    veto(harness.ctx, ({ type }) => type === 'inbox/removed', { code: 'SECOND' })
    await harness.say(agent, 'hi')
    expect(story(agent.session).filter((line) => line.startsWith('end'))).toEqual(['end 1.1', 'end 1 error FIRST'])
  })

  const gone = (agent: Agent): void => {
    expect(waiting(agent)).toEqual({ nextStep: [], nextTurn: [], any: false })
    expect(pendingInbox(agent.session)).toEqual({ nextStep: [], nextTurn: [] })
  }

  it('a discarding while it judges another event takes it a moment later: memory and log agree', async () => {
    await using harness = await createHarness({ invariants: false })
    const agent = harness.agent()
    const errors: unknown[] = []
    harness.ctx.on('agent/error', ({ error }) => void errors.push((error as { code?: string }).code))
    agent.inject(userMessage('one'))
    const off = harness.ctx.on('internal/dispatch', (_mode, name) => {
      if (name === 'session/event') agent.cancel()
    })
    agent.inject(userMessage('two'))
    off()
    expect(errors).toEqual(['APPEND_WHILE_JUDGED'])
    await Promise.resolve()
    expect(story(agent.session)).toEqual(['queued next-step: one', 'queued next-step: two', 'discarded: one, two'])
    gone(agent)
  })

  it('a removal takes it before anything else is queued, and queues nothing as long as it does not', async () => {
    await using harness = await createHarness({ script: [{ text: 'ok' }] })
    const agent = harness.agent()
    const message = userMessage('one')
    agent.inject(message)
    const off = veto(harness.ctx, ({ type }) => type === 'inbox/removed', { times: Infinity })
    agent.cancel()
    await Promise.resolve()
    expect(() => agent.inject(message)).toThrow(expect.objectContaining({ code: 'VETO' }))
    expect(waiting(agent).any).toBe(false)
    off()
    agent.inject(message)
    expect(story(agent.session)).toEqual(['queued next-step: one', 'discarded: one', 'queued next-step: one'])
    expect(pendingInbox(agent.session).nextStep).toEqual([message])
    agent.steer(message)
    await agent.whenIdle()
    expect(story(agent.session).at(-1)).toBe('end 1 completed')
  })

  it.each(['rejects', 'throws'])('the claim of a pre-step that %s takes it a moment later, too', async (how) => {
    await using harness = await createHarness()
    const agent = harness.agent()
    harness.ctx.on('agent/pre-step', async () => {
      if (how === 'throws') throw Object.assign(new Error('no entry'), { code: 'NO_ENTRY' })
      return { kind: 'reject' }
    })
    veto(harness.ctx, ({ type }) => type === 'inbox/removed')
    await harness.say(agent, 'hi')
    expect(story(agent.session).toSorted()).toEqual(
      ['queued next-turn: hi', 'turn 1', 'claimed: hi', how === 'throws' ? 'end 1 error NO_ENTRY' : 'end 1 error VETO'].toSorted(),
    )
    gone(agent)
  })
})

describe('what a message must be', () => {
  const good = userMessage('hi')

  it.each<[string, unknown, string]>([
    ['text', 'hello', 'BAD_MESSAGE'],
    ['nothing', undefined, 'NOT_JSON'],
    ['an undefined id', { ...good, id: undefined }, 'NOT_JSON'],
    ['an empty id', { ...good, id: '' }, 'BAD_MESSAGE'],
    ['the role of the model', { ...good, role: 'assistant' }, 'BAD_MESSAGE'],
    ['content that is text', { ...good, content: 'hi' }, 'BAD_MESSAGE'],
    ['a block without a type', { ...good, content: [{ text: 'hi' }] }, 'BAD_MESSAGE'],
    ['no source', { id: good.id, role: 'user', content: [] }, 'BAD_MESSAGE'],
    ['a function inside', { ...good, content: [{ type: 'text', text: 'hi', more: () => 1 }] }, 'NOT_JSON'],
  ])('refuses %s at every door, and queues nothing', async (_what, message, code) => {
    await using harness = await createHarness()
    const agent = harness.agent()
    for (const door of ['followup', 'steer', 'inject'] as const) {
      expect(() => agent[door](message as UserMessage)).toThrow(expect.objectContaining({ code }))
    }
    expect(agent.status).toBe('idle')
    expect(story(agent.session)).toEqual([])
  })

  it('takes a mutable message as it is at that moment', async () => {
    await using harness = await createHarness({ script: [{ text: 'ok' }] })
    const agent = harness.agent()
    const block = { type: 'text' as const, text: 'before' }
    const message = { ...createUserMessage({ content: [], source: { kind: 'user' } }), content: [block] }
    agent.followup(message)
    block.text = 'after'
    await agent.whenIdle()
    expect(story(agent.session)).toContain('user before')
  })
})
