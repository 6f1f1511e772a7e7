import type { Agent } from '@loopguard/agent-loop'
import { CallId, createAssistantMessage, createUserMessage, type LlmRequest, LlmRuntime, SessionId, text } from '@loopguard/llm'
import { Session, type SessionEvent } from '@loopguard/session'
import {
  createHarness,
  gate,
  type Harness,
  type HarnessOptions,
  type InvariantWatch,
  mountInvariants,
  userMessage,
} from '@loopguard/testkit'
import { ToolRuntime } from '@loopguard/tools'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { fileHost, temporaryDirectory } from './support/host.ts'
import { tool } from './support/tools.ts'

interface Watched {
  readonly harness: Harness
  readonly agent: Agent
  readonly watch: InvariantWatch
}

const OWN = { package_allowlist: ['^@loopguard/agent-loop$'] }
const looks = { calls: [{ name: 'look', arguments: {} }] }

async function watched(options: HarnessOptions = {}): Promise<Watched> {
  const harness = await createHarness({ tools: [tool('look')], ...options, invariants: false })
  onTestFinished(() => harness.dispose())
  const watch = await mountInvariants(harness.ctx, OWN)
  return { harness, watch, agent: harness.agent() }
}

const lastReason = ({ session }: Agent): unknown => session.events.findLast(({ type }) => type === 'turn/end')?.data
const note = () => createUserMessage({ content: [text('by the way')], source: { kind: 'plugin', plugin: 'noisy' } })

describe('the status of an agent alternates', () => {
  it('trips when a plugin announces a status that the agent has already', async () => {
    const { harness, agent, watch } = await watched({ script: [{ text: 'hi' }] })
    await harness.say(agent, 'hi')
    harness.ctx.emit('agent/status', { agent, status: 'idle' })
    watch.assertBroken('@loopguard/agent-loop', /agent "agent-1": its status was idle and became idle$/)
    expect(watch.violations).toHaveLength(1)
  })

  it('counts what an agent was doing when the companion was loaded', async () => {
    const harness = await createHarness({ script: ['hang', 'hang'], invariants: false })
    onTestFinished(() => harness.dispose())
    const agent = harness.agent()
    agent.followup(userMessage('hi'))
    const watch = await mountInvariants(harness.ctx, OWN)
    agent.cancel()
    await agent.whenIdle()
    watch.assertNone()
    agent.followup(userMessage('hi'))
    harness.ctx.emit('agent/status', { agent, status: 'running' })
    expect(watch.violations).toHaveLength(1)
    watch.assertBroken('@loopguard/agent-loop', /its status was running and became running$/)
  })
})

/** Changes what the loop asks, on its way to the model. */
function tamper(change: (request: LlmRequest) => Partial<LlmRequest>): void {
  // oxlint-disable-next-line typescript/unbound-method -- called on the service below
  const { stream } = LlmRuntime.prototype
  const spy = vi.spyOn(LlmRuntime.prototype, 'stream').mockImplementation(function (this: LlmRuntime, request) {
    return stream.call(this, { ...request, ...change(request) })
  })
  onTestFinished(() => spy.mockRestore())
}

describe('each answer is to a request that the log derives', () => {
  it('trips when a message of the log is missing in the request', async () => {
    const { harness, agent, watch } = await watched({ script: [looks, { text: 'done' }] })
    tamper(({ messages }) => ({ messages: messages.slice(1) }))
    await harness.say(agent, 'hi')
    watch.assertBroken('@loopguard/agent-loop', /agent "agent-1": a request has 0 messages, the log derives 1$/)
    expect(watch.violations).toHaveLength(2)
  })

  it('trips when the request holds another message than the log', async () => {
    const { harness, agent, watch } = await watched({ script: [{ text: 'done' }] })
    tamper(() => ({ messages: [userMessage('something else')] }))
    await harness.say(agent, 'hi')
    expect(watch.violations).toHaveLength(1)
    watch.assertBroken('@loopguard/agent-loop', /message 0 of a request \(".+"\) is not what the log derives$/)
  })

  it('in a long log, finds a deviation that stays by the time that the log has grown by an eighth', async () => {
    const { harness, agent, watch } = await watched({ script: [{ ...looks, repeat: 60 }, { text: 'done' }] })
    for (let count = 0; count < 600; count++) agent.session.append('user/message', userMessage(`old ${count}`))
    let requests = 0
    tamper(({ messages }) => (++requests === 1 ? {} : { messages: messages.slice(1) }))
    await harness.say(agent, 'hi')
    expect(watch.violations).toHaveLength(1)
    watch.assertBroken('@loopguard/agent-loop', /a request has \d+ messages, the log derives \d+$/)
    expect(Number(/log derives (\d+)/.exec(watch.violations[0]?.message ?? '')?.[1])).toBeLessThan(601 * 1.125 + 2)
  })

  it('trips when the model is told what no header says', async () => {
    const { harness, agent, watch } = await watched({ script: [{ text: 'done' }] })
    tamper(() => ({ system: 'obey' }))
    await harness.say(agent, 'hi')
    expect(watch.violations).toHaveLength(1)
    watch.assertBroken('@loopguard/agent-loop', /the `system` of a request is not what request\/header says$/)
  })

  it('trips when a request that the log does not derive fails', async () => {
    const { harness, agent, watch } = await watched()
    tamper(({ messages }) => ({ messages: [...messages, ...messages] }))
    await harness.say(agent, 'hi')
    expect(lastReason(agent)).toMatchObject({ reason: { kind: 'error', error: { code: 'SCRIPT_EXHAUSTED' } } })
    watch.assertBroken('@loopguard/agent-loop', /a request has 2 messages, the log derives 1$/)
  })

  it('trips when a plugin has a request answered before any header says what it is', async () => {
    const { harness, agent, watch } = await watched({ script: [{ text: 'early' }, { text: 'done' }] })
    const { ctx } = harness
    ctx.on('session/event', (session, event) => {
      if (event.type !== 'step/start') return
      const { signal } = new AbortController()
      const request = { provider: 'scripted', model: 'small', messages: [], signal, sessionId: session.id }
      void ctx.llm.stream(request)[Symbol.asyncIterator]().next()
      const message = createAssistantMessage({ content: [text('early')], source: { provider: 'scripted', model: 'small' } })
      session.append('assistant/message', { turn: event.data.turn, step: event.data.step, message })
    })
    await harness.say(agent, 'hi')
    expect(watch.violations.length).toBeGreaterThan(0)
    watch.assertBroken('@loopguard/agent-loop', /a request was sent before any request\/header was logged$/)
  })

  it('trips when a plugin logs an answer to no request', async () => {
    const { harness, agent, watch } = await watched({ script: [{ text: 'done' }] })
    harness.ctx.on('session/event', (session, event) => {
      if (event.type !== 'step/start') return
      const message = createAssistantMessage({ content: [text('made up')], source: { provider: 'none', model: 'none' } })
      session.append('assistant/message', { turn: event.data.turn, step: event.data.step, message })
    })
    await harness.say(agent, 'hi')
    expect(watch.violations).toHaveLength(1)
    watch.assertBroken('@loopguard/agent-loop', /an answer was logged to no request$/)
  })

  const made = createAssistantMessage({ content: [text('made up')], source: { provider: 'none', model: 'none' } })

  it('trips when a plugin logs a second answer to one request', async () => {
    const { harness, agent, watch } = await watched({ script: [{ text: 'done' }] })
    harness.ctx.on('session/event', (session, { type, data }) => {
      if (type !== 'assistant/message' || data.message.source.provider === 'none') return
      session.append(type, { turn: data.turn, step: data.step, message: made })
    })
    await harness.say(agent, 'hi')
    expect(watch.violations).toHaveLength(1)
    watch.assertBroken('@loopguard/agent-loop', /an answer was logged to no request$/)
  })

  it('trips when a plugin logs an answer to a request that failed', async () => {
    const { harness, agent, watch } = await watched()
    harness.ctx.on('agent/request-error', async ({ turn, step }, next) => {
      agent.session.append('assistant/message', { turn, step, message: made })
      return next()
    })
    await harness.say(agent, 'hi')
    expect(watch.violations).toHaveLength(1)
    watch.assertBroken('@loopguard/agent-loop', /an answer was logged to no request$/)
  })
})

describe('each failed attempt is logged before anybody is asked about it', () => {
  /** Keeps the loop from logging failed attempts. */
  function withhold(): void {
    // oxlint-disable-next-line typescript/unbound-method -- called on the session below
    const { append } = Session.prototype
    const spy = vi.spyOn(Session.prototype, 'append').mockImplementation(function (this: Session, type, data) {
      return (type === 'request/failed' ? this.events.at(-1) : append.call(this, type, data)) as never
    })
    onTestFinished(() => spy.mockRestore())
  }

  it('trips when an attempt that failed is not logged', async () => {
    withhold()
    const { harness, agent, watch } = await watched()
    await harness.say(agent, 'hi')
    expect(watch.violations).toHaveLength(1)
    watch.assertBroken('@loopguard/agent-loop', /a request failed \(SCRIPT_EXHAUSTED\) and no request\/failed says so$/)
  })

  it('trips when a second attempt fails and only the first is logged', async () => {
    const { harness, agent, watch } = await watched()
    let asked = 0
    harness.ctx.on('agent/request-error', async () => {
      if (++asked > 1) return undefined
      withhold()
      return { kind: 'retry' }
    })
    await harness.say(agent, 'hi')
    expect(watch.violations).toHaveLength(1)
    watch.assertBroken('@loopguard/agent-loop', /no request\/failed says so$/)
  })

  it('trips when attempts are misnumbered', async () => {
    const { harness, agent, watch } = await watched()
    harness.ctx.on('session/event', (session, { type, data }) => {
      if (type === 'step/start') session.append('request/failed', { ...data, attempt: 1, failure: { message: 'made up', code: 'NO' } })
    })
    await harness.say(agent, 'hi')
    expect(watch.violations).toHaveLength(1)
    watch.assertBroken('@loopguard/agent-loop', /request\/failed says attempt 1, it is 2$/)
  })
})

describe('nothing stands between a call and its result', () => {
  it('trips when a plugin logs a message while a call runs', async () => {
    const { harness, agent, watch } = await watched({ script: [looks, { text: 'done' }] })
    harness.ctx.on('session/event', (session, { type }) => {
      if (type === 'tool/call') session.append('user/message', note())
    })
    await harness.say(agent, 'hi')
    watch.assertBroken('@loopguard/agent-loop', /agent "agent-1": the user message of event \d+ stands between a call and its result$/)
    // It reports, and refuses nothing.
    expect(agent.session.events.filter(({ type }) => type === 'user/message')).toHaveLength(2)
    expect(lastReason(agent)).toMatchObject({ reason: { kind: 'completed' } })
  })
})

describe('no call outlives the step that started it', () => {
  /** Ends no call, and says that it has. */
  function endNothing(but = 0): void {
    let left = but
    // oxlint-disable-next-line typescript/unbound-method -- called on the service below
    const { prepare } = ToolRuntime.prototype
    const spy = vi.spyOn(ToolRuntime.prototype, 'prepare').mockImplementation(async function (this: ToolRuntime, input) {
      const prepared = await prepare.call(this, input)
      if (left-- > 0) return prepared
      return { ...prepared, finish: () => Promise.resolve({ isError: false, content: [text('made up')] }) }
    })
    onTestFinished(() => spy.mockRestore())
  }

  it('trips when a result is logged of a call that was begun and never ended', async () => {
    endNothing()
    const { harness, agent, watch } = await watched({ script: [looks, { text: 'done' }] })
    await harness.say(agent, 'hi')
    expect(harness.ctx.tools.running()).toHaveLength(1)
    expect(watch.violations).toHaveLength(1)
    watch.assertBroken('@loopguard/agent-loop', /agent "agent-1": call "call_1" still runs at the end of its step$/)
    expect(lastReason(agent)).toMatchObject({ reason: { kind: 'completed' } })
  })

  it('counts the calls to which the model gave one id', async () => {
    endNothing(1)
    const twin = { name: 'look', arguments: {}, id: 'twin' }
    const tools = [tool('look', undefined, { isConcurrencySafe: () => true })]
    const { harness, agent, watch } = await watched({ script: [{ calls: [twin, twin] }, { text: 'done' }], tools })
    await harness.say(agent, 'hi')
    expect(harness.ctx.tools.running()).toHaveLength(1)
    watch.assertBroken('@loopguard/agent-loop', /call "twin" still runs at the end of its step$/)
  })

  it('of a step whose start it has not seen it says nothing', async () => {
    endNothing()
    const [reached, more] = [gate(), gate()]
    const waits = tool('look', async () => {
      reached.open()
      await more.opened
      return 'ok'
    })
    const harness = await createHarness({ script: [looks, looks, { text: 'done' }], tools: [waits], invariants: false })
    onTestFinished(() => harness.dispose())
    const agent = harness.agent()
    const saying = harness.say(agent, 'hi')
    await reached.opened
    const watch = await mountInvariants(harness.ctx, OWN)
    more.open()
    await saying
    expect(watch.violations.map(({ message }) => message.replace(/.*: /, ''))).toEqual(['call "call_2" still runs at the end of its step'])
  })

  it('calls that a plugin makes under the same id may run on', async () => {
    const { harness, agent, watch } = await watched({ script: [{ calls: [looks.calls[0], looks.calls[0]] as never }, { text: 'done' }] })
    const { ctx } = harness
    const more = gate()
    const made = new Set<string>()
    ctx.on('tools/execute', async (exec, next) => {
      const { callId, name, arguments: args, agent: caller } = exec
      // The loop's call comes first, and is made again by the plugin, which does not wait.
      if (made.has(callId)) await more.opened
      else {
        made.add(callId)
        void ctx.tools.execute({ callId, name, arguments: args, agent: caller, signal: new AbortController().signal })
      }
      return next()
    })
    await harness.say(agent, 'hi')
    expect(ctx.tools.running()).toHaveLength(2)
    watch.assertNone()
    more.open()
  })

  it('a result that somebody kept from being heard ends its call all the same', async () => {
    const harness = await createHarness({ script: [looks, { text: 'done' }], tools: [tool('look')], invariants: false })
    onTestFinished(() => harness.dispose())
    harness.ctx.on('internal/dispatch', (_mode, event) => {
      if (event === 'tools/result') throw new Error('not now')
    })
    const watch = await mountInvariants(harness.ctx, OWN)
    const [agent, other] = [harness.agent(), harness.agent()]
    // Of another agent, under the id that the first call gets.
    const running = await harness.ctx.tools.prepare({
      callId: CallId('call_1'),
      name: 'look',
      arguments: {},
      signal: new AbortController().signal,
      agent: other,
    })
    await harness.say(agent, 'hi')
    expect(lastReason(agent)).toMatchObject({ reason: { kind: 'completed' } })
    expect(harness.ctx.tools.running()).toEqual([running.exec])
    watch.assertNone()
    await running.finish()
  })
})

describe('the companion is silent about', () => {
  it('a whole life: batches, retries, contexts, cancels and disposal', async () => {
    const more = gate()
    let failures = 0
    const { harness, agent, watch } = await watched({
      script: [
        () => {
          throw new Error(`busy ${++failures}`)
        },
        { calls: ['look', 'look', 'nobody', 'defers'].map((name) => ({ name, arguments: {} })) },
        { text: 'done' },
        { calls: [{ name: 'waits', arguments: {} }] },
        'hang',
      ],
      tools: [
        tool('look', undefined, { isConcurrencySafe: () => true }),
        tool('defers', (_args, exec) => {
          exec.deferContext(note())
          return 'ok'
        }),
        tool('waits', async () => {
          more.open()
          return 'ok'
        }),
      ],
    })
    harness.ctx.on('agent/request-error', async () => ({ kind: 'retry' }))
    await harness.say(agent, 'one')
    agent.followup(userMessage('two'))
    await more.opened
    agent.cancel()
    agent.followup(userMessage('three'))
    await agent.dispose()
    expect(failures).toBe(1)
    watch.assertNone()
  })

  it('requests that a plugin makes in the name of a session while its agent runs', async () => {
    const { harness, agent, watch } = await watched({ script: [{ text: 'a title' }, { text: 'done' }, { text: 'late' }] })
    const asked: string[] = []
    const ask = async (signal: AbortSignal): Promise<void> => {
      const request = { provider: 'scripted', model: 'small', messages: [userMessage('sum it up')], signal, sessionId: agent.id }
      for await (const chunk of harness.ctx.llm.stream(request)) if (chunk.type === 'block-end') asked.push('answered')
    }
    harness.ctx.on('agent/pre-step', async ({ signal }, next) => {
      await ask(signal)
      return next()
    })
    harness.ctx.on('session/event', (_session, { type }) => {
      if (type === 'request/header') void ask(new AbortController().signal)
    })
    await harness.say(agent, 'hi')
    expect(asked).toHaveLength(2)
    watch.assertNone()
  })

  it('requests in the name of a session that is not there', async () => {
    const { harness, watch } = await watched({ script: [{ text: 'done' }] })
    const request = { provider: 'scripted', model: 'm', messages: [], signal: new AbortController().signal, sessionId: SessionId('none') }
    const kinds: string[] = []
    for await (const { type } of harness.ctx.llm.stream(request)) kinds.push(type)
    expect(kinds.at(-2)).toBe('block-end')
    watch.assertNone()
  })

  it('an old conversation that a plugin writes into a log before an agent takes it over', async () => {
    const { harness, watch } = await watched({ script: [{ text: 'go on' }] })
    const session: Session = harness.ctx.sessions.create('old')
    const place = { turn: 1, step: 1 }
    const message = createAssistantMessage({
      content: [{ type: 'tool-call', id: 'c' as never, name: 'look', arguments: '{}' }],
      source: { provider: 'p', model: 'm' },
    })
    session.append('turn/start', { turn: 1 })
    session.append('step/start', place)
    session.append('assistant/message', { ...place, message })
    session.append('user/message', userMessage('in between'))
    session.append('step/end', place)
    session.append('turn/end', { turn: 1, reason: { kind: 'completed' } })
    const agent = harness.ctx.agentLoop.create(SessionId('old'), { provider: 'scripted', model: 'm' }, { session })
    await harness.say(agent, 'hi')
    watch.assertNone()
    expect(lastReason(agent)).toMatchObject({ turn: 2, reason: { kind: 'completed' } })
  })

  it('a step that was under way when it was loaded, and a session that was resumed', async () => {
    await using directory = await temporaryDirectory()
    const id = SessionId('a')
    const options = { provider: 'scripted', model: 'scripted' }
    {
      await using host = await fileHost({ directory: directory.path, script: [looks, { text: 'seen' }], tools: [tool('look')] })
      const agent = host.ctx.agentLoop.create(id, options)
      agent.followup(userMessage('one'))
      await agent.whenIdle()
    }
    await using host = await fileHost({ directory: directory.path, script: [{ text: 'again' }] })
    const agent = await host.ctx.agentLoop.resume(id, options)
    agent.followup(userMessage('two'))
    await agent.whenIdle()

    const [asked, answer] = [gate(), gate()]
    const harness = await createHarness({ script: [{ text: 'done' }], invariants: false })
    onTestFinished(() => harness.dispose())
    harness.ctx.on('llm/stream', async function* (_request, next) {
      asked.open()
      await answer.opened
      yield* next()
    })
    const late = harness.agent()
    late.followup(userMessage('hi'))
    await asked.opened
    const watch = await mountInvariants(harness.ctx, OWN)
    answer.open()
    await late.whenIdle()
    expect(lastReason(late)).toMatchObject({ reason: { kind: 'completed' } })
    watch.assertNone()
  })

  it('an answer that somebody logs and somebody else refuses, and that of the loop after it', async () => {
    const { harness, agent, watch } = await watched({ script: [{ text: 'done' }] })
    const { ctx } = harness
    const refused: unknown[] = []
    ctx.on('internal/dispatch', (_mode, event, args) => {
      const { data } = Object(args[1]) as SessionEvent<'assistant/message'>
      if (event === 'session/event' && data.message?.source.provider === 'none') throw new Error('not now')
    })
    ctx.on('llm/stream', async function* (_request, next) {
      const message = createAssistantMessage({ content: [text('made up')], source: { provider: 'none', model: 'none' } })
      try {
        agent.session.append('assistant/message', { turn: 1, step: 1, message })
      } catch (error) {
        refused.push(error)
      }
      yield* next()
    })
    await harness.say(agent, 'hi')
    expect(refused).toEqual([new Error('not now')])
    expect(lastReason(agent)).toMatchObject({ reason: { kind: 'completed' } })
    watch.assertNone()
  })

  it('a status that nobody was let hear', async () => {
    const harness = await createHarness({ script: [{ text: 'done' }], invariants: false })
    onTestFinished(() => harness.dispose())
    harness.ctx.on('internal/dispatch', (_mode, event, args) => {
      if (event === 'agent/status' && (args[0] as { status: string }).status === 'running') throw new Error('not now')
    })
    const watch = await mountInvariants(harness.ctx, OWN)
    const agent = harness.agent()
    await harness.say(agent, 'hi')
    expect(lastReason(agent)).toMatchObject({ reason: { kind: 'completed' } })
    watch.assertNone()
  })

  it('a request that somebody vetoed before it was seen', async () => {
    const harness = await createHarness({ script: [{ text: 'done' }], invariants: false })
    onTestFinished(() => harness.dispose())
    harness.ctx.on('internal/dispatch', (_mode, event) => {
      if (event === 'llm/stream') throw new Error('not now')
    })
    const watch = await mountInvariants(harness.ctx, OWN)
    const agent = harness.agent()
    await harness.say(agent, 'hi')
    expect(lastReason(agent)).toMatchObject({ reason: { kind: 'error' } })
    watch.assertNone()
  })

  it('what it sees once it is unloaded', async () => {
    const { harness, agent, watch } = await watched()
    await harness.ctx.invariants
      .registrations()
      .find(({ packageName }) => packageName === '@loopguard/agent-loop')
      ?.fiber?.dispose()
    harness.ctx.emit('agent/status', { agent, status: 'idle' })
    expect(watch.violations).toEqual([])
  })
})
