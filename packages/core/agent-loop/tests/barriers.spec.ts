import { codeOf } from '@loopguard/llm'
import type { SessionEvent } from '@loopguard/session'
import { createHarness, FaultyBackend, gate, type BackendFault, type HarnessOptions, userMessage } from '@loopguard/testkit'
import { expect, it, onTestFinished } from 'vitest'

type Fault = (event: SessionEvent) => BackendFault | undefined

const atFirst = (type: string, fault: BackendFault): Fault => {
  let isDone = false
  return (event) => {
    if (isDone || event.type !== type) return undefined
    isDone = true
    return fault
  }
}

const CALLS = { calls: [{ name: 'act', arguments: {}, id: 'c1' }] }
const BOTH = {
  calls: [
    { name: 'act', arguments: {}, id: 'c1' },
    { name: 'act', arguments: {}, id: 'c2' },
  ],
}

/** An agent on a store with faults, and what happened in the world: the calls whose bodies ran. */
async function world(fault: Fault, { script = [CALLS, { text: 'done' }], ...options }: HarnessOptions = {}) {
  const backend = new FaultyBackend({ at: fault })
  const acted: string[] = []
  const harness = await createHarness({
    sessions: backend,
    script,
    tools: [
      {
        name: 'act',
        description: '',
        parameters: {},
        isConcurrencySafe: () => true,
        execute: (_args, { callId }) => {
          acted.push(callId)
          return 'ok'
        },
      },
    ],
    ...options,
  })
  onTestFinished(async () => {
    backend.goOn()
    await harness.dispose()
  })
  const errors: (string | undefined)[] = []
  harness.ctx.on('agent/error', ({ error }) => void errors.push(codeOf(error)))
  const agent = harness.agent()
  const kept = async (): Promise<string[]> => (await backend.read(agent.id)).map(({ type }) => type)
  return { backend, harness, agent, acted, errors, kept }
}

/** Everything goes on that does not wait for the store. */
const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
}

it('a request leaves once all that it is made of is durable', async () => {
  const { agent, backend, harness, kept } = await world(atFirst('user/message', 'stall'))
  agent.followup(userMessage('go'))
  await settle()
  expect(harness.model.requests).toHaveLength(0)
  backend.goOn()
  await agent.whenIdle()
  expect(harness.model.requests).toHaveLength(2)
  expect((await kept()).at(-1)).toBe('turn/end')
})

it('a body starts once its `tool/call` is durable', async () => {
  const { agent, acted, backend } = await world(atFirst('tool/call', 'stall'))
  agent.followup(userMessage('go'))
  await settle()
  expect(acted).toEqual([])
  backend.goOn()
  await agent.whenIdle()
  expect(acted).toEqual(['c1'])
})

it.each(['step/end', 'turn/end'])('an agent is idle once its %s is durable', async (type) => {
  const { agent, backend, kept } = await world(atFirst(type, 'stall'), { script: [{ text: 'done' }] })
  agent.followup(userMessage('go'))
  await settle()
  expect([agent.status, (await kept()).includes('turn/end')]).toEqual(['running', false])
  backend.goOn()
  await agent.whenIdle()
  expect((await kept()).at(-1)).toBe('turn/end')
})

it.each([
  ['user/message', 0, 0],
  ['assistant/message', 1, 0],
  ['tool/call', 1, 0],
  ['tool/result', 1, 1],
])('when a barrier after %s rejects, the turn ends with an error, and no effect follows', async (type, requests, bodies) => {
  const { agent, acted, errors, harness } = await world(atFirst(type, 'fail-flush'))
  agent.followup(userMessage('go'))
  await agent.whenIdle()
  expect([harness.model.requests.length, acted.length, errors]).toEqual([requests, bodies, ['SESSION_WRITE_FAILED']])
  expect(() => agent.session.append('turn/start', { turn: 9 })).toThrow('could not be written')
})

it('a `turn/end` that is not durable is reported, stops the driver, and appends nothing', async () => {
  const { agent, errors, harness } = await world(atFirst('turn/end', 'fail-flush'), { script: [{ text: 'one' }, { text: 'two' }] })
  agent.followup(userMessage('one'))
  agent.followup(userMessage('two'))
  await agent.whenIdle()
  expect([errors, harness.model.requests.length, agent.session.events.at(-1)?.type]).toEqual([['SESSION_WRITE_FAILED'], 1, 'turn/end'])
  expect(agent.inbox.nextTurn).toHaveLength(1)
})

it('a rejection beside bodies that overlap is handled at once, and those that run are awaited', async () => {
  const unhandled: unknown[] = []
  const listen = (reason: unknown): void => void unhandled.push(reason)
  process.on('unhandledRejection', listen)
  onTestFinished(() => void process.off('unhandledRejection', listen))
  const door = gate()
  const ran: string[] = []
  let calls = 0
  const { agent, errors } = await world(({ type }) => (type === 'tool/call' && ++calls === 2 ? 'fail-flush' : undefined), {
    script: [BOTH],
    tools: [
      {
        name: 'act',
        description: '',
        parameters: {},
        isConcurrencySafe: () => true,
        async execute(_args, { callId }) {
          await door.opened
          ran.push(callId)
          return 'ok'
        },
      },
    ],
  })
  agent.followup(userMessage('go'))
  await settle()
  expect([unhandled, agent.status]).toEqual([[], 'running'])
  door.open()
  await agent.whenIdle()
  await settle()
  expect([ran, unhandled, errors]).toEqual([['c1'], [], ['SESSION_WRITE_FAILED']])
})

it.each(['user/message', 'tool/call', 'turn/end'])('a cancel ends the wait at a barrier (%s)', async (type) => {
  const { agent, acted } = await world(atFirst(type, 'stall'))
  agent.followup(userMessage('go'))
  await settle()
  agent.cancel()
  await agent.whenIdle()
  expect([agent.status, acted]).toEqual(['idle', type === 'turn/end' ? ['c1'] : []])
})

it('a session that is taken over cancels its agent with that cause, and keeps the inbox', async () => {
  const causes: unknown[] = []
  const { agent, errors, harness } = await world(atFirst('assistant/message', 'take-over'))
  harness.ctx.on('tools/pre-execute', (_exec, next) => next())
  harness.ctx.on('agent/pre-step', ({ signal }, next) => {
    signal.addEventListener('abort', () => causes.push((signal.reason as Error).cause))
    return next()
  })
  agent.inject(userMessage('later'))
  agent.followup(userMessage('go'))
  agent.followup(userMessage('next'))
  await agent.whenIdle()
  expect(causes).toEqual([{ kind: 'session-lost' }])
  expect([agent.inbox.nextTurn.length, new Set(errors)]).toEqual([1, new Set(['SESSION_LOST'])])
})

it('an id is taken, and a disposal pending, until its log is free', async () => {
  const { agent, backend, harness } = await world(atFirst('inbox/queued', 'stall'))
  agent.inject(userMessage('x'))
  let isGone = false
  const disposal = agent.dispose().then(() => (isGone = true))
  await settle()
  expect([isGone, harness.ctx.agentLoop.get(agent.id)]).toEqual([false, agent])
  backend.goOn()
  await disposal
  expect(harness.ctx.agentLoop.get(agent.id)).toBeUndefined()
})
