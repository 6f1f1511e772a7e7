import { describe, expect, it } from 'vitest'
import type { PreStepDecision, PreStepEvent } from '@loopguard/agent-loop'
import { createUserMessage, text, type UserMessage } from '@loopguard/llm'
import { createHarness, userMessage } from '@loopguard/testkit'
import { story, words } from './support/story.ts'
import { tool } from './support/tools.ts'

const note = (words: string): UserMessage => createUserMessage({ content: [text(words)], source: { kind: 'plugin', plugin: 'note' } })

function cyclic(): object {
  const message: Record<string, unknown> = { ...note('x') }
  return Object.assign(message, { self: message })
}

describe('agent/pre-step', () => {
  it('runs before every step with what that step has claimed, frozen', async () => {
    await using harness = await createHarness({
      script: [{ calls: [{ name: 'look', arguments: {} }] }, { text: 'seen' }, { text: 'ok' }],
      tools: [tool('look', () => (agent.inject(userMessage('meanwhile')), 'ok'))],
    })
    const agent = harness.agent()
    const seen: unknown[] = []
    harness.ctx.on('agent/pre-step', (event, next) => {
      seen.push({ ...event, agent: event.agent === agent, messages: event.messages.map(words), signal: event.signal.aborted })
      expect([event, event.messages].every(Object.isFrozen)).toBe(true)
      return next()
    })
    await harness.say(agent, 'one')
    await harness.say(agent, 'two')
    expect(seen).toEqual([
      { agent: true, messages: ['one'], turn: 1, step: 1, signal: false },
      { agent: true, messages: ['meanwhile'], turn: 1, step: 2, signal: false },
      { agent: true, messages: ['two'], turn: 2, step: 1, signal: false },
    ])
  })

  it('rewrites what enters: added, replaced and left out', async () => {
    await using harness = await createHarness({ script: [{ text: 'ok' }] })
    const agent = harness.agent()
    harness.ctx.on('agent/pre-step', async (_event, next) => {
      const decision = await next()
      if (decision.kind === 'reject') return decision
      return { kind: 'enter', messages: [note('first'), ...decision.messages.filter((message) => words(message) !== 'secret')] }
    })
    agent.inject(userMessage('secret'))
    agent.inject(userMessage('open'))
    await harness.say(agent, 'hi')
    expect(story(agent.session).slice(3)).toEqual([
      'turn 1',
      'step 1.1',
      'user first',
      'user open',
      'user hi',
      'claimed: secret, open, hi',
      'model ok',
      'end 1.1',
      'end 1 completed',
    ])
    expect(harness.model.requests[0]?.messages.map(words)).toEqual(['first', 'open', 'hi'])
  })

  it('a message that is changed after the decision enters as it was', async () => {
    await using harness = await createHarness({ script: [{ text: 'ok' }] })
    const agent = harness.agent()
    const block = { type: 'text' as const, text: 'as decided' }
    harness.ctx.on('agent/pre-step', async () => {
      const messages = [{ ...note(''), content: [block] }]
      return { kind: 'enter', messages }
    })
    harness.ctx.on('session/event', (_session, { type }) => {
      if (type === 'step/start') block.text = 'changed'
    })
    await harness.say(agent, 'hi')
    expect(story(agent.session)).toContain('user as decided')
  })

  it('rejects a later step too, and its claim is gone', async () => {
    await using harness = await createHarness({
      script: [{ calls: [{ name: 'look', arguments: {} }] }],
      tools: [tool('look', () => (agent.steer(userMessage('rather')), 'ok'))],
    })
    const agent = harness.agent()
    harness.ctx.on('agent/pre-step', async ({ step }, next) => (step === 2 ? { kind: 'reject' } : next()))
    await harness.say(agent, 'hi')
    expect(story(agent.session)).toEqual([
      'queued next-turn: hi',
      'turn 1',
      'step 1.1',
      'user hi',
      'claimed: hi',
      'model [call_1 look({})]',
      'call call_1',
      'queued next-step: rather',
      'result call_1: ok',
      'end 1.1',
      'claimed: rather',
      'end 1 blocked',
    ])
    expect(agent.inbox.hasPending).toBe(false)
  })
})

describe('a pre-step that fails', () => {
  it('ends the turn with its error, and the claim is gone', async () => {
    await using harness = await createHarness()
    const agent = harness.agent()
    harness.ctx.on('agent/pre-step', () => {
      throw Object.assign(new Error('no entry'), { code: 'NO_ENTRY' })
    })
    await harness.say(agent, 'hi')
    expect(story(agent.session)).toEqual(['queued next-turn: hi', 'turn 1', 'claimed: hi', 'end 1 error NO_ENTRY'])
    expect(harness.log.map(({ name, text }) => `${name}: ${text.split('\n')[0]}`)).toEqual([
      expect.stringContaining('agent-loop: agent "agent-1", turn 1: no entry'),
    ])
  })

  it.each<[string, unknown, string]>([
    ['nothing', undefined, 'did it forget `return next()`?'],
    ['null', null, 'returned null'],
    ['an unknown kind', { kind: 'skip' }, '"skip"'],
    ['no messages', { kind: 'enter' }, 'messages must be an array'],
    ['messages that are none', { kind: 'enter', messages: ['hi'] }, 'messages[0] must be a user message, got "hi"'],
    ['a message of the model', { kind: 'enter', messages: [{ ...note('x'), role: 'assistant' }] }, 'messages[0].role must be "user"'],
    ['content that is none', { kind: 'enter', messages: [{ ...note('x'), content: [5] }] }, 'messages[0].content[0]'],
    ['what is no JSON', { kind: 'enter', messages: [{ ...note('x'), more: () => 1 }] }, 'messages[0].more is a function'],
    ['a cycle', { kind: 'enter', messages: [cyclic()] }, 'messages[0].self is a cycle'],
  ])('%s is no answer: the turn ends with an error that names the listener, and the claim is gone', async (_what, answer, why) => {
    await using harness = await createHarness({
      plugins: [{ name: 'gatekeeper', apply: (ctx) => ctx.on('agent/pre-step', () => Promise.resolve(answer as PreStepDecision)) }],
    })
    const agent = harness.agent()
    await harness.say(agent, 'hi')
    expect(story(agent.session)).toEqual(['queued next-turn: hi', 'turn 1', 'claimed: hi', 'end 1 error BAD_ANSWER'])
    const end = agent.session.events.at(-1)?.data
    expect(JSON.stringify(end)).toContain('agent/pre-step')
    expect(JSON.stringify(end)).toContain('gatekeeper')
    expect((end as { reason: { error: { message: string } } }).reason.error.message).toContain(why)
  })

  it('does not stop the agent: the next message starts a turn', async () => {
    await using harness = await createHarness({ script: [{ text: 'ok' }] })
    const agent = harness.agent()
    let fails = true
    harness.ctx.on('agent/pre-step', (_event: PreStepEvent, next) => {
      if (fails) throw new Error('no entry')
      return next()
    })
    await harness.say(agent, 'one')
    fails = false
    await harness.say(agent, 'two')
    expect(story(agent.session).slice(-7)).toEqual([
      'turn 2',
      'step 2.1',
      'user two',
      'claimed: two',
      'model ok',
      'end 2.1',
      'end 2 completed',
    ])
  })
})
