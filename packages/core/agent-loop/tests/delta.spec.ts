import type { DeltaEvent } from '@loopguard/agent-loop'
import { LlmError, type StreamChunk } from '@loopguard/llm'
import { createHarness, gate } from '@loopguard/testkit'
import { describe, expect, it } from 'vitest'
import { story } from './support/story.ts'
import { pausing, Streams } from './support/streams.ts'
import { tool } from './support/tools.ts'

const said = (...chunks: readonly StreamChunk[]) =>
  async function* () {
    yield* chunks
  }
const start: StreamChunk = { type: 'block-start', index: 0, blockType: 'text' }
const delta = (words: string): StreamChunk => ({ type: 'text-delta', index: 0, text: words })
const end = (words: string): StreamChunk => ({ type: 'block-end', index: 0, block: { type: 'text', text: words } })
const stop: StreamChunk = { type: 'finish', reason: { kind: 'stop' } }
const place = ({ agent, turn, step, attempt, chunk }: DeltaEvent): unknown[] => [agent.id, turn, step, attempt, chunk.type]

describe('agent/delta', () => {
  it('comes for each chunk of the stream, in order, with turn and step', async () => {
    await using harness = await createHarness({
      script: [{ text: 'I look', calls: [{ name: 'look', arguments: {} }] }, { text: 'seen' }],
      tools: [tool('look', () => 'ok')],
    })
    const heard: DeltaEvent[] = []
    const streamed: StreamChunk[] = []
    harness.ctx.on('agent/delta', (event) => void heard.push(event))
    harness.ctx.on('llm/stream', async function* (_request, next) {
      for await (const chunk of next()) {
        streamed.push(chunk)
        yield chunk
      }
    })
    await harness.say(harness.agent(), 'go')
    expect(heard.map(({ chunk }) => chunk)).toEqual(streamed)
    expect(new Set(heard.map(({ agent, turn, step, attempt }) => `${agent.id} ${turn}.${step} ${attempt}`))).toEqual(
      new Set(['agent-1 1.1 1', 'agent-1 1.2 1']),
    )
  })

  it('comes while the model speaks, before anything of it is in the log', async () => {
    const [words, more] = [gate(), gate()]
    await using harness = await createHarness({ adapter: new Streams(pausing('half', words, more)) })
    const agent = harness.agent()
    const heard: unknown[] = []
    harness.ctx.on('agent/delta', (event) => void heard.push(event.chunk))
    const done = harness.say(agent, 'go')
    await words.wait()
    expect(heard).toEqual([start, delta('half')])
    expect(story(agent.session)).not.toContain('model half')
    more.open()
    await done
  })

  it('counts the attempts of a step as request/failed does, and begins anew with the next step', async () => {
    const fails = async function* (): AsyncGenerator<StreamChunk> {
      yield start
      yield delta('lost')
      throw new LlmError('connection lost', 'LOST')
    }
    await using harness = await createHarness({
      adapter: new Streams(fails, fails, said(start, delta('here'), end('here'), stop), said(stop)),
    })
    const agent = harness.agent()
    harness.ctx.on('agent/request-error', async () => ({ kind: 'retry' }))
    const order: unknown[] = []
    harness.ctx.on('agent/delta', (event) => {
      if (event.chunk.type === 'text-delta') order.push([event.attempt, event.chunk.text])
    })
    harness.ctx.on('session/event', (_session, { type, data }) => void (type === 'request/failed' && order.push(['failed', data.attempt])))
    await harness.say(agent, 'go')
    expect(order).toEqual([
      [1, 'lost'],
      ['failed', 1],
      [2, 'lost'],
      ['failed', 2],
      [3, 'here'],
    ])
    const later: unknown[] = []
    harness.ctx.on('agent/delta', (event) => void later.push(place(event)))
    await harness.say(agent, 'again')
    expect(later).toEqual([['agent-1', 2, 1, 1, 'finish']])
  })

  it.each([
    [
      'throws',
      () => {
        throw new Error('torn screen')
      },
    ],
    ['rejects', () => Promise.reject(new Error('torn screen'))],
    ['never settles', () => new Promise<void>(() => {})],
  ])('a listener that %s ends no turn, and starves no other', async (how, listener) => {
    await using harness = await createHarness({ adapter: new Streams(said(start, delta('hello'), end('hello'), stop)) })
    const heard: string[] = []
    await harness.ctx.plugin({ name: 'screen', apply: (ctx) => void ctx.on('agent/delta', listener as () => void) })
    harness.ctx.on('agent/delta', ({ chunk }) => void heard.push(chunk.type))
    const agent = harness.agent()
    await harness.say(agent, 'go')
    expect(heard).toEqual(['block-start', 'text-delta', 'block-end', 'finish'])
    expect(story(agent.session).slice(-3)).toEqual(['model hello', 'end 1.1', 'end 1 completed'])
    const complaint = 'agent/delta: a listener of plugin "screen" failed: torn screen {}'
    expect(harness.log.map(({ text }) => text)).toEqual(how === 'never settles' ? [] : Array(4).fill(complaint))
  })

  it('a listener can change nothing: neither what is logged, nor what the adapter holds', async () => {
    const ended = end('hello')
    await using harness = await createHarness({ adapter: new Streams(said(start, delta('hello'), ended, stop)) })
    const agent = harness.agent()
    harness.ctx.on('agent/delta', (event) => {
      if (event.chunk.type === 'block-end') (event.chunk.block as { text: string }).text = 'forged'
    })
    await harness.say(agent, 'go')
    expect(story(agent.session)).toContain('model hello')
    expect(Object.isFrozen(ended)).toBe(false)
    expect(harness.log).toHaveLength(1)
  })

  it('an adapter that spells out what it leaves out is shown; what JSON cannot hold is left out and logged, and the turn goes on', async () => {
    const odd = { ...start, extra: undefined } as unknown as StreamChunk
    const worse = { ...delta('hello'), extra: () => {} } as unknown as StreamChunk
    await using harness = await createHarness({ adapter: new Streams(said(odd, worse, end('hello'), stop)) })
    const heard: unknown[] = []
    harness.ctx.on('agent/delta', ({ chunk }) => void heard.push(chunk))
    const agent = harness.agent()
    await harness.say(agent, 'go')
    expect(heard).toEqual([start, end('hello'), stop])
    expect(story(agent.session)).toContain('model hello')
    expect(harness.log.map(({ text }) => text)).toEqual([
      expect.stringContaining('agent "agent-1": agent/delta left out a chunk: chunk.extra is a function'),
    ])
  })

  it('a listener on agent.ctx hears its agent alone, and none hears what is no chunk', async () => {
    const bad = { type: 'text-delta', index: 7, text: 'of no block' } as const
    await using harness = await createHarness({ adapter: new Streams(said(stop), said(start, bad)), invariants: false })
    const [first, second] = [harness.agent(), harness.agent()]
    const heard: unknown[] = []
    second.ctx.on('agent/delta', (event) => void heard.push(place(event)))
    await harness.say(first, 'go')
    await harness.say(second, 'go')
    expect(heard).toEqual([['agent-2', 1, 1, 1, 'block-start']])
  })

  it('is not dispatched while nobody listens; who begins in the middle hears the rest', async () => {
    const [words, more] = [gate(), gate()]
    await using harness = await createHarness({ adapter: new Streams(pausing('half', words, more)) })
    const dispatched: string[] = []
    harness.ctx.on('internal/dispatch', (_mode, event) => void (event === 'agent/delta' && dispatched.push(event)))
    const done = harness.say(harness.agent(), 'go')
    await words.wait()
    expect(dispatched).toEqual([])
    const heard: string[] = []
    harness.ctx.on('agent/delta', ({ chunk }) => void heard.push(chunk.type))
    more.open()
    await done
    expect(heard).toEqual(['block-end', 'finish'])
    expect(dispatched).toHaveLength(2)
  })
})
