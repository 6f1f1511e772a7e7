import { createUserMessage, LlmAdapter, type StreamChunk, text, type UserMessage } from '@loopguard/llm'
import type { SessionEvent } from '@loopguard/session'
import { createHarness, fakeClock, gate, type Harness, type HarnessOptions, userMessage } from '@loopguard/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { tool } from './support/tools.ts'

const pause = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms))
const calls = (...names: readonly string[]) => ({ calls: names.map((name) => ({ name, arguments: {} })) })
const slow = (name: string, ms: number) => tool(name, () => pause(ms).then(() => 'ok'), { isConcurrencySafe: () => true })

/** A harness on a clock that stands still. */
async function stopped(options: HarnessOptions) {
  const harness = await createHarness(options)
  const clock = fakeClock()
  onTestFinished(async () => {
    clock.restore()
    await harness.dispose()
  })
  return { harness, clock }
}

type Results = SessionEvent<'tool/result'>['data']

const results = (harness: Harness, id = 'agent-1'): Results[] =>
  harness.ctx.agentLoop.get(id as never)!.session.events.flatMap((event) => (event.type === 'tool/result' ? [event.data] : []))

const answers = (events: readonly SessionEvent[]) =>
  events.flatMap(({ type, data }) =>
    type === 'assistant/message' ? [{ durationMs: data.durationMs, firstTokenMs: data.firstTokenMs }] : [],
  )

describe('the time of a tool call', () => {
  it('is that of its body, though its result waits for those of elder siblings', async () => {
    const { harness, clock } = await stopped({
      script: [calls('long', 'short'), { text: 'seen' }],
      tools: [slow('long', 700), slow('short', 20)],
    })
    const done = harness.say(harness.agent(), 'go')
    await clock.advance(1_000)
    await done
    expect(results(harness).map(({ durationMs }) => durationMs)).toEqual([700, 20])
    const logged = harness.ctx.agentLoop.list()[0]!.session.events.filter(({ type }) => type === 'tool/result')
    expect(logged[0]!.time).toBe(logged[1]!.time)
  })

  it('leaves out what listeners take, and is absent for a body that never ran', async () => {
    const { harness, clock } = await stopped({ script: [calls('work', 'work', 'nobody'), { text: 'seen' }], tools: [slow('work', 50)] })
    harness.ctx.tools.guard(({ callId }) => (callId === 'call_2' ? 'not today' : undefined))
    harness.ctx.on('tools/execute', async (_exec, next) => {
      await pause(300)
      const result = await next()
      await pause(300)
      return result
    })
    const done = harness.say(harness.agent(), 'go')
    await clock.advance(5_000)
    await done
    expect(results(harness).map(({ durationMs, error }) => [durationMs, error?.code])).toEqual([
      [50, undefined],
      [undefined, 'DENIED'],
      [undefined, 'UNKNOWN_TOOL'],
    ])
  })

  it('ends when the call is given up on', async () => {
    const release = gate()
    const { harness, clock } = await stopped({
      script: [calls('deaf')],
      tools: [tool('deaf', () => release.opened.then(() => 'late'))],
      loop: { abandonAfterMs: 100 },
    })
    const agent = harness.agent()
    agent.followup(userMessage('go'))
    await clock.advance(400)
    agent.cancel()
    await clock.advance(1_000)
    await agent.whenIdle()
    release.open()
    expect(results(harness).map(({ durationMs, error }) => [durationMs, error?.code])).toEqual([[500, 'TOOL_OUTCOME_UNKNOWN']])
  })
})

describe('the time of the model', () => {
  /** A model that takes its time. */
  class Slow extends LlmAdapter {
    readonly stream: () => AsyncGenerator<StreamChunk>
    constructor(chunks: () => AsyncGenerator<StreamChunk>) {
      super()
      this.stream = chunks
    }
  }

  it('counts to the end of the stream, and to the first piece of the answer, reasoning too', async () => {
    const adapter = new Slow(async function* () {
      yield { type: 'block-start', index: 0, blockType: 'reasoning' }
      await pause(120)
      yield { type: 'reasoning-delta', index: 0, text: 'hm' }
      await pause(80)
      yield { type: 'block-end', index: 0, block: { type: 'reasoning', text: 'hm' } }
      await pause(300)
      yield { type: 'finish', reason: { kind: 'stop' } }
    })
    const { harness, clock } = await stopped({ adapter })
    const agent = harness.agent()
    const done = harness.say(agent, 'go')
    await clock.advance(1_000)
    await done
    expect(answers(agent.session.events)).toEqual([{ durationMs: 500, firstTokenMs: 120 }])
  })

  it('takes a block that comes whole for its first piece, and says none when nothing came', async () => {
    let asked = 0
    const adapter = new Slow(async function* () {
      yield { type: 'usage', usage: { inputTokens: 1, outputTokens: 1 } }
      if (++asked === 1) {
        yield { type: 'block-start', index: 0, blockType: 'text' }
        await pause(40)
        yield { type: 'block-end', index: 0, block: { type: 'text', text: 'yes' } }
      }
      await pause(10)
      yield { type: 'finish', reason: { kind: 'stop' } }
    })
    const { harness, clock } = await stopped({ adapter })
    const agent = harness.agent()
    for (const words of ['one', 'two']) {
      const done = harness.say(agent, words)
      await clock.advance(100)
      await done
    }
    expect(answers(agent.session.events)).toEqual([
      { durationMs: 50, firstTokenMs: 40 },
      { durationMs: 10, firstTokenMs: undefined },
    ])
  })

  it('is that of the attempt which answered', async () => {
    let asked = 0
    const adapter = new Slow(async function* () {
      await pause(1_000)
      if (++asked === 1) throw new Error('lost')
      yield { type: 'block-start', index: 0, blockType: 'text' }
      yield { type: 'text-delta', index: 0, text: 'y' }
      yield { type: 'block-end', index: 0, block: { type: 'text', text: 'y' } }
      yield { type: 'finish', reason: { kind: 'stop' } }
    })
    const { harness, clock } = await stopped({ adapter })
    harness.ctx.on('agent/request-error', async () => {
      await pause(5_000)
      return { kind: 'retry' }
    })
    const agent = harness.agent()
    const done = harness.say(agent, 'go')
    await clock.advance(10_000)
    await done
    expect(answers(agent.session.events)).toEqual([{ durationMs: 1_000, firstTokenMs: 1_000 }])
  })

  it('stands on an answer that was interrupted', async () => {
    const adapter = new Slow(async function* () {
      yield { type: 'block-start', index: 0, blockType: 'text' }
      await pause(30)
      yield { type: 'text-delta', index: 0, text: 'we' }
      await pause(1_000)
      yield { type: 'block-end', index: 0, block: { type: 'text', text: 'we' } }
      yield { type: 'finish', reason: { kind: 'stop' } }
    })
    const { harness, clock } = await stopped({ adapter, loop: { abandonAfterMs: 5 } })
    const agent = harness.agent()
    agent.followup(userMessage('go'))
    await clock.advance(100)
    agent.cancel()
    await clock.advance(2_000)
    await agent.whenIdle()
    expect(answers(agent.session.events)).toEqual([{ durationMs: 105, firstTokenMs: 30 }])
  })
})

describe('contextIds', () => {
  const note = (words: string): UserMessage => createUserMessage({ content: [text(words)], source: { kind: 'plugin', plugin: 'note' } })

  it('names the messages that a result brought, in order, and is absent where it brought none', async () => {
    await using harness = await createHarness({ script: [calls('work', 'work', 'work'), { text: 'seen' }], tools: [tool('work')] })
    const brought = new Map([
      ['call_1', [note('a'), note('b')]],
      ['call_3', [note('c')]],
    ])
    harness.ctx.on('tools/post-execute', async ({ callId }, _result, next) => {
      const decision = await next()
      const additionalContexts = brought.get(callId)
      return additionalContexts === undefined ? decision : { ...decision, additionalContexts }
    })
    const agent = harness.agent()
    await harness.say(agent, 'go')
    const ids = (callId: string): string[] => brought.get(callId)!.map(({ id }) => id)
    expect(results(harness).map(({ contextIds }) => contextIds)).toEqual([ids('call_1'), undefined, ids('call_3')])
    const notes = agent.session.events.flatMap(({ type, data }) =>
      type === 'user/message' && data.source.kind === 'plugin' ? [data.id] : [],
    )
    expect(notes).toEqual([...ids('call_1'), ...ids('call_3')])
  })

  it('ties a reminder to the call that it follows, whose source says no more than before', async () => {
    await using harness = await createHarness({
      script: [calls('work', 'other'), calls('work', 'work')],
      tools: [tool('work'), tool('other')],
    })
    const reminder = note('again')
    harness.ctx.on('tools/post-execute', async ({ callId }, _result, next) => ({
      ...(await next()),
      ...(callId === 'call_3' && { additionalContexts: [reminder] }),
    }))
    const agent = harness.agent()
    await harness.say(agent, 'go')
    const tied = results(harness).flatMap(({ message, contextIds }) =>
      contextIds?.includes(reminder.id) === true ? [message.source.callId] : [],
    )
    expect(tied).toEqual(['call_3'])
    const logged = agent.session.events.find(({ type, data }) => type === 'user/message' && data.id === reminder.id)
    expect(logged?.data).toEqual(reminder)
  })
})
