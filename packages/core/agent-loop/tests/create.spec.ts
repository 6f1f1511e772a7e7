import { describe, expect, it } from 'vitest'
import type { Context } from '@deepseek-ai/cordis'
import type { Agent, AgentOptions } from '@loopguard/agent-loop'
import { SessionId } from '@loopguard/llm'
import { createHarness } from '@loopguard/testkit'
import { story } from './support/story.ts'

const options = { provider: 'scripted', model: 'scripted' }

describe('ctx.agentLoop.create', () => {
  it('makes an idle agent at once, tells of it, lists it, and keeps the options as given', async () => {
    await using harness = await createHarness()
    const told: Agent[] = []
    harness.ctx.on('agent/created', ({ agent }) => void told.push(agent))
    const given = { ...options, system: 'be kind', maxTokens: 9, flavour: 'own' }
    const agent = harness.ctx.agentLoop.create(SessionId('a'), given)
    expect({ id: agent.id, status: agent.status, log: story(agent.session) }).toEqual({ id: 'a', status: 'idle', log: [] })
    expect(agent.options).toBe(given)
    expect(told).toEqual([agent])
    expect([harness.ctx.agentLoop.get(SessionId('a')), ...harness.ctx.agentLoop.list()]).toEqual([agent, agent])
    expect(harness.ctx.sessions.get('a')).toBe(agent.session)
    expect(harness.ctx.agentLoop.get(SessionId('b'))).toBeUndefined()
  })

  it('the request and the log say what the options say, and the header again only when they change', async () => {
    await using harness = await createHarness({ script: [{ text: 'ok', repeat: 4 }] })
    const agent = harness.agent({ system: 'be kind', maxTokens: 9 })
    await harness.say(agent, 'one')
    await harness.say(agent, 'two')
    Object.assign(agent.options, { model: 'better' })
    await harness.say(agent, 'three')
    await harness.say(agent, 'four')
    const header = { provider: 'scripted', model: 'scripted', system: 'be kind', maxTokens: 9 }
    expect(agent.session.events.flatMap(({ type, data }) => (type === 'request/header' ? [data] : []))).toEqual([
      header,
      { ...header, model: 'better' },
    ])
    const [first, , third] = harness.model.requests
    expect(first).toEqual({
      ...header,
      messages: agent.session.deriveMessages().slice(0, 1),
      sessionId: agent.id,
      signal: expect.any(AbortSignal),
    })
    expect(third?.model).toBe('better')
    expect([first, first?.messages].every(Object.isFrozen)).toBe(true)
  })

  it('adopts a session that it is given', async () => {
    await using harness = await createHarness({ script: [{ text: 'ok' }] })
    const session = harness.ctx.sessions.create('a')
    session.append('turn/start', { turn: 41 })
    session.append('turn/end', { turn: 41, reason: { kind: 'interrupted' } })
    const agent = harness.ctx.agentLoop.create(SessionId('a'), options, { session })
    expect(agent.session).toBe(session)
    await harness.say(agent, 'hi')
    expect(story(session)).toContain('turn 42')
    await agent.dispose()
    expect(session.closed).toBe(true)
  })
})

describe('what create refuses', () => {
  it.each<[string, unknown, unknown, string, string]>([
    ['a blank id', ' ', options, 'BAD_AGENT', '`id` must be non-blank text, got " "'],
    ['an id that is no text', 5, options, 'BAD_AGENT', '`id`'],
    ['an id that leaves the directory', '../a', options, 'BAD_SESSION_ID', '../a'],
    ['no options', 'a', undefined, 'BAD_AGENT', 'the options must be an object, got undefined'],
    ['no provider', 'a', { model: 'm' }, 'BAD_AGENT', '`provider` must be non-blank text, got undefined'],
    ['a blank model', 'a', { provider: 'p', model: '' }, 'BAD_AGENT', '`model` must be non-blank text, got ""'],
    ['a system that is no text', 'a', { ...options, system: 5 }, 'BAD_AGENT', '`system` must be text or left out, got 5'],
    [
      'no tokens',
      'a',
      { ...options, maxTokens: 0 },
      'BAD_AGENT',
      '`maxTokens` must be an integer from 1 to 9007199254740991 or left out, got 0',
    ],
    ['more tokens than can be counted', 'a', { ...options, maxTokens: 2 ** 53 }, 'BAD_AGENT', 'got 9007199254740992'],
    ['a relative folder', 'a', { ...options, cwd: 'src' }, 'BAD_AGENT', '`cwd` must be an absolute path or left out, got "src"'],
    ['half a token', 'a', { ...options, maxTokens: 0.5 }, 'BAD_AGENT', '0.5'],
  ])('%s, and nothing is left of the attempt', async (_what, id, given, code, message) => {
    await using harness = await createHarness()
    const effects = harness.ctx.fiber.getEffects().length
    expect(() => harness.ctx.agentLoop.create(id as SessionId, given as AgentOptions)).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(message) }),
    )
    expect([harness.ctx.agentLoop.list(), harness.ctx.sessions.list()]).toEqual([[], []])
    expect(harness.ctx.fiber.getEffects().length).toBe(effects)
  })

  it('an id that is taken, by an agent or by a session', async () => {
    await using harness = await createHarness()
    const agent = harness.agent({ id: 'a' })
    expect(() => harness.agent({ id: 'a' })).toThrow(
      expect.objectContaining({ code: 'AGENT_EXISTS', message: expect.stringContaining('"a"') }),
    )
    await expect(harness.ctx.agentLoop.resume(SessionId('a'), options)).rejects.toMatchObject({ code: 'AGENT_EXISTS' })
    expect(agent.session.closed).toBe(false)
    harness.ctx.sessions.create('b')
    expect(() => harness.agent({ id: 'b' })).toThrow(expect.objectContaining({ code: 'SESSION_EXISTS' }))
  })

  it('a session of another id, of another agent, or closed; it is left as it is', async () => {
    await using harness = await createHarness()
    const { agentLoop, sessions } = harness.ctx
    const other = sessions.create('other')
    expect(() => agentLoop.create(SessionId('a'), options, { session: other })).toThrow(expect.objectContaining({ code: 'BAD_AGENT' }))
    expect([other.closed, other.adopted]).toEqual([false, false])
    const owned = sessions.create('owned')
    owned.adopt()
    expect(() => agentLoop.create(SessionId('owned'), options, { session: owned })).toThrow(
      expect.objectContaining({ code: 'SESSION_OWNED' }),
    )
    expect(owned.closed).toBe(false)
    const closed = sessions.create('closed')
    closed.close()
    expect(() => agentLoop.create(SessionId('closed'), options, { session: closed })).toThrow(
      expect.objectContaining({ code: 'SESSION_CLOSED' }),
    )
    expect(agentLoop.list()).toEqual([])
  })

  it('an owner that is unloading or gone; the id stays free', async () => {
    await using harness = await createHarness()
    let inner!: Context
    const owner = await harness.ctx.plugin({ name: 'owner', inject: ['agentLoop'], apply: (ctx: Context) => void (inner = ctx) })
    const { agentLoop } = inner
    const begun: unknown[] = []
    harness.ctx.on('session/event', (session) => void begun.push(session.id))
    const unloaded = owner.dispose()
    expect(() => agentLoop.create(SessionId('a'), options)).toThrow('cannot create effect on inactive context')
    await unloaded
    expect(() => agentLoop.create(SessionId('a'), options)).toThrow('cannot create effect on inactive context')
    expect(begun).toEqual([])
    expect([harness.ctx.agentLoop.list(), harness.ctx.sessions.list()]).toEqual([[], []])
    harness.agent({ id: 'a' })
  })

  it('resume of a session that is nowhere', async () => {
    await using harness = await createHarness()
    await expect(harness.ctx.agentLoop.resume(SessionId('a'), options)).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' })
    await expect(harness.ctx.agentLoop.resume(SessionId('a'), {} as AgentOptions)).rejects.toMatchObject({ code: 'BAD_AGENT' })
    expect(harness.ctx.agentLoop.list()).toEqual([])
  })
})
