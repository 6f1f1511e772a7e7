import { CallId, LlmAdapter, type LlmRequest, type Message, SessionId, type StreamChunk, type UserMessage } from '@loopguard/llm'
import { type EventSink, lastTurn, type SessionBackend, type SessionEvent } from '@loopguard/session'
import { createHarness, FaultyBackend, userMessage } from '@loopguard/testkit'
import { expect, it } from 'vitest'

const isLong = process.env['LOOPGUARD_LONG'] === '1'
const CUTS = isLong ? 1_000 : 60

/** The same store, but what is written becomes durable when the store likes, and nothing waits for it: no barriers. */
class WithoutBarriers implements SessionBackend {
  private readonly real: FaultyBackend

  constructor(real: FaultyBackend) {
    this.real = real
  }

  create = (id: SessionId): EventSink => lazily(this.real.create(id))
  read = (id: SessionId): Promise<SessionEvent[]> => this.real.read(id)
  stored = (): ReturnType<SessionBackend['stored']> => this.real.stored()
  load = async (id: SessionId): ReturnType<SessionBackend['load']> => {
    const { events, log } = await this.real.load(id)
    return { events, log: lazily(log) }
  }
}

function lazily(sink: EventSink): EventSink {
  let written = 0
  return {
    encode: (event) => sink.encode(event),
    write(line) {
      sink.write(line)
      if (++written % 7 === 0) sink.flush?.().catch(() => {})
    },
    close: () => sink.close(),
    get released() {
      return sink.released as Promise<void>
    },
  }
}

/** Acts once for each message of the user: what it has not called yet, it calls. */
class Diligent extends LlmAdapter {
  readonly asked: (readonly Message[])[] = []

  async *stream({ messages }: LlmRequest): AsyncGenerator<StreamChunk> {
    this.asked.push(messages)
    const called = new Set(messages.flatMap(({ content }) => content.flatMap((block) => (block.type === 'tool-call' ? [block.id] : []))))
    const wanted = messages.filter(isTask).flatMap(({ id }) => [CallId(`${id}-1`), CallId(`${id}-2`)])
    const next = wanted.find((id) => !called.has(id))
    if (next !== undefined) {
      yield { type: 'block-start', index: 0, blockType: 'tool-call' }
      yield { type: 'block-end', index: 0, block: { type: 'tool-call', id: next, name: 'act', arguments: '{}' } }
    }
    yield { type: 'finish', reason: { kind: next === undefined ? 'stop' : 'tool-calls' } }
  }
}

const isTask = ({ source, content }: Message): boolean =>
  source.kind === 'user' && content.some((block) => block.type === 'text' && block.text !== 'go on')

interface Figures {
  cuts: number
  effects: number
  /** Bodies that ran although no durable `tool/call` says so. */
  effectsNotInLog: number
  effectsTwice: number
  /** User messages that stand twice in the conversation. */
  doubled: number
  /** Requests that held a message which the log has lost. */
  seenAndLost: number
}

/** One agent, killed by a power failure again and again, each time after another number of events. */
async function lives(cuts: number, withBarriers: boolean): Promise<Figures> {
  const figures: Figures = { cuts: 0, effects: 0, effectsNotInLog: 0, effectsTwice: 0, doubled: 0, seenAndLost: 0 }
  let left = 0
  let agents = 0
  while (figures.cuts < cuts) {
    const id = SessionId(`a${agents++}`)
    const backend: FaultyBackend = new FaultyBackend({
      at: () => {
        if (--left === 0) queueMicrotask(() => backend.powerFailure())
        return undefined
      },
    })
    const acted: string[] = []
    // Ten lives each: a log that grows without end makes each life slower.
    for (let life = 0; life < 10; life++) {
      const asked = await live(
        withBarriers ? backend : new WithoutBarriers(backend),
        id,
        acted,
        () => (left = 1 + ((figures.cuts * 7 + life) % 31)),
      )
      left = 0
      backend.powerFailure()
      figures.cuts++
      const kept = await backend.read(id).catch(() => [])
      const logged = new Set(kept.flatMap((event) => (event.type === 'tool/call' ? [event.data.callId] : [])))
      figures.effectsNotInLog += new Set(acted.filter((callId) => !logged.has(callId))).size
      const durable = new Set(kept.flatMap((event) => (event.type === 'user/message' ? [event.data.id] : [])))
      for (const messages of asked)
        if (messages.some((message) => message.source.kind === 'user' && !durable.has(message.id))) figures.seenAndLost++
    }
    const all = await backend.read(id).catch((): SessionEvent[] => [])
    const messages = all.flatMap((event) => (event.type === 'user/message' ? [event.data.id] : []))
    figures.doubled += messages.length - new Set(messages).size
    figures.effects += acted.length
    figures.effectsTwice += acted.length - new Set(acted).size
  }
  return figures
}

/** Resumes the agent, gives it work, and works until the power fails or nothing is left to do. */
async function live(sessions: SessionBackend, id: SessionId, acted: string[], arm: () => void): Promise<readonly (readonly Message[])[]> {
  const adapter = new Diligent()
  const harness = await createHarness({
    sessions,
    adapter,
    invariants: false,
    tools: [
      {
        name: 'act',
        description: '',
        parameters: {},
        execute(_args, { callId }) {
          acted.push(callId)
          return 'ok'
        },
      },
    ],
  })
  arm()
  try {
    const options = { provider: 'scripted', model: 'm' }
    const { agentLoop } = harness.ctx
    const agent = await agentLoop.resume(id, options).catch(() => agentLoop.create(id, options))
    const words: UserMessage[] = [userMessage(`task ${lastTurn(agent.session)}`), userMessage('go on')]
    for (const message of words) agent.followup(message)
    await agent.whenIdle()
  } catch {
    // The power failed while it started, or while it was spoken to.
  }
  await harness.dispose()
  return adapter.asked
}

it(`over ${CUTS} power failures no effect follows an event that is lost`, { timeout: 600_000 }, async () => {
  const figures = await lives(CUTS, true)
  console.log(JSON.stringify(figures))
  expect(figures).toMatchObject({ effectsNotInLog: 0, effectsTwice: 0, doubled: 0, seenAndLost: 0 })
  expect(figures.effects).toBeGreaterThan(CUTS / 10)
})

it('negative control: without barriers effects run that no log knows of, and run twice', { timeout: 600_000 }, async () => {
  const figures = await lives(CUTS, false)
  console.log(JSON.stringify(figures))
  expect(figures.effectsNotInLog).toBeGreaterThan(0)
  expect(figures.effectsTwice).toBeGreaterThan(0)
  expect(figures.seenAndLost).toBeGreaterThan(0)
})
