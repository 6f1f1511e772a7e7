import { LlmError, type StreamChunk } from '@loopguard/llm'
import { LlmAdapter, type LlmRequest } from '@loopguard/llm'
import { gate } from '@loopguard/testkit'
import { methods } from '@agentclientprotocol/sdk'
import { describe, expect, it } from 'vitest'
import { host, told, tool, until } from './support.ts'

type Source = (request: LlmRequest) => AsyncIterable<StreamChunk>

class Streams extends LlmAdapter {
  private readonly sources: Source[]
  constructor(...sources: Source[]) {
    super()
    this.sources = sources
  }
  stream(request: LlmRequest): AsyncIterable<StreamChunk> {
    return (this.sources.shift() as Source)(request)
  }
}

const start = (index = 0, blockType: 'text' | 'reasoning' = 'text'): StreamChunk => ({ type: 'block-start', index, blockType })
const delta = (text: string, index = 0, type: 'text-delta' | 'reasoning-delta' = 'text-delta'): StreamChunk => ({ type, index, text })
const end = (text: string, index = 0, type: 'text' | 'reasoning' = 'text'): StreamChunk => ({
  type: 'block-end',
  index,
  block: { type, text },
})
const stop: StreamChunk = { type: 'finish', reason: { kind: 'stop' } }
const says = (...chunks: StreamChunk[]): Source =>
  async function* () {
    yield* chunks
  }
const loses: Source = async function* () {
  yield start()
  yield delta('I was ab')
  throw new LlmError('connection lost', 'LOST')
}
const retries = {
  name: 'retries',
  apply: (ctx: import('@deepseek-ai/cordis').Context) => void ctx.on('agent/request-error', async () => ({ kind: 'retry' })),
}

describe('a retried request', () => {
  it('leaves no text of the failed attempt with the client', async () => {
    const { open, prompt, updates, frames } = await host({
      adapter: new Streams(loses, loses, says(start(), delta('Here.'), end('Here.'), stop)),
      plugins: [retries],
    })
    expect(await prompt(await open(), 'go')).toEqual({ stopReason: 'end_turn' })
    expect(told(updates())).toEqual(['says: Here.'])
    expect(JSON.stringify(frames)).not.toContain('I was ab')
    expect(updates()[0]).toMatchObject({ messageId: '1.1.3' })
  })

  it('counts anew in the next step', async () => {
    const calls: Source = async function* () {
      yield { type: 'block-start', index: 0, blockType: 'tool-call' }
      yield { type: 'block-end', index: 0, block: { type: 'tool-call', id: 'a' as never, name: 'look', arguments: '{}' } }
      yield { type: 'finish', reason: { kind: 'tool-calls' } }
    }
    const { open, prompt, updates } = await host({
      adapter: new Streams(loses, calls, says(start(), delta('Here.'), end('Here.'), stop)),
      tools: [tool('look', () => 'ok')],
      plugins: [retries],
    })
    await prompt(await open(), 'go')
    expect(updates().at(-1)).toMatchObject({ messageId: '1.2.1' })
  })

  it('with deltas, has a message of its own for each attempt, and says which one is void', async () => {
    const { open, prompt, updates } = await host({
      deltas: true,
      adapter: new Streams(loses, says(start(), delta('He'), delta('re.'), end('Here.'), stop)),
      plugins: [retries],
    })
    await prompt(await open(), 'go')
    expect(updates().map((update) => ('messageId' in update ? update.messageId : undefined))).toEqual([
      '1.1.1',
      '1.1.1.failed',
      '1.1.2',
      '1.1.2',
    ])
    expect(told(updates())).toEqual([
      'says: I was ab',
      'thinks (request-failed): The request failed (LOST: connection lost); what it had said is void.',
      'says: He',
      'says: re.',
    ])
    expect(updates()[1]).toMatchObject({ _meta: { loopguard: { kind: 'request-failed', messageId: '1.1.1', error: { code: 'LOST' } } } })
  })
})

it('with deltas, an attempt that failed before its first word is not said to be void, nor is another one again', async () => {
  const mute: Source = async function* () {
    yield start()
    throw new LlmError('connection lost', 'LOST')
  }
  // Nobody hears of a chunk that is none.
  const babbles = says(delta('of no block', 7))
  const { open, prompt, updates } = await host({
    deltas: true,
    adapter: new Streams(mute, loses, babbles, says(start(), delta('Here.'), end('Here.'), stop)),
    plugins: [retries],
    invariants: false,
  })
  await prompt(await open(), 'go')
  expect(updates().map((update) => ('messageId' in update ? update.messageId : undefined))).toEqual(['1.1.2', '1.1.2.failed', '1.1.4'])
})

describe('deltas', () => {
  it('come while the model speaks, text and reasoning, and nothing is said twice', async () => {
    const more = gate()
    const { open, prompt, updates } = await host({
      deltas: true,
      adapter: new Streams(async function* () {
        yield start(0, 'reasoning')
        yield delta('Hm', 0, 'reasoning-delta')
        yield end('Hm', 0, 'reasoning')
        yield start(1)
        yield delta('Ye', 1)
        await more.opened
        yield delta('s.', 1)
        yield end('Yes.', 1)
        yield stop
      }),
    })
    const done = prompt(await open(), 'go')
    await until(() => updates().length === 2, 'the first words')
    expect(told(updates())).toEqual(['thinks: Hm', 'says: Ye'])
    more.open()
    await done
    expect(told(updates())).toEqual(['thinks: Hm', 'says: Ye', 'says: s.'])
  })

  it.each([
    ['a block without deltas is told whole', [start(), end('Whole.'), stop], ['says: Whole.']],
    ['what its deltas left out is told behind them', [start(), delta('Who'), end('Whole.'), stop], ['says: Who', 'says: le.']],
    [
      'a block that is another one in the end is told again',
      [start(), delta('Wrong'), end('Right.'), stop],
      ['says: Wrong', 'says: Right.'],
    ],
    [
      'of two blocks, each its own rest',
      [start(), start(1), delta('b', 1), delta('a'), end('aa'), end('bb', 1), stop],
      ['says: b', 'says: a', 'says: a', 'says: b'],
    ],
    [
      'an empty block between them does not shift it',
      [start(), end(''), start(1), delta('b', 1), end('bb', 1), stop],
      ['says: b', 'says: b'],
    ],
  ])('%s', async (_what, chunks, lines) => {
    const { open, prompt, updates } = await host({ deltas: true, adapter: new Streams(says(...chunks)), invariants: false })
    await prompt(await open(), 'go')
    expect(told(updates())).toEqual(lines)
  })

  it('an answer that is cancelled in the middle is told once, as far as it came', async () => {
    const words = gate()
    const { open, prompt, cancel, updates } = await host({
      deltas: true,
      adapter: new Streams(async function* ({ signal }) {
        yield start()
        yield delta('Half')
        words.open()
        await gate().wait(signal)
      }),
    })
    const id = await open()
    const done = prompt(id, 'go')
    await words.opened
    await cancel(id)
    expect(await done).toMatchObject({ stopReason: 'cancelled' })
    expect(told(updates())).toEqual(['says: Half'])
  })

  it('who opens the session in the middle of an answer is told the whole of it at its end', async () => {
    const words = gate()
    const more = gate()
    const { harness, acp, updates } = await host({
      deltas: true,
      adapter: new Streams(async function* () {
        yield start()
        yield delta('Ye')
        words.open()
        await more.opened
        yield delta('s, s')
        yield delta('ir.')
        yield end('Yes, sir.')
        yield start(1)
        yield delta('At once.', 1)
        yield end('At once.', 1)
        yield stop
      }),
    })
    const agent = harness.agent({ id: 'desk' })
    const done = harness.say(agent, 'hello?')
    await words.opened
    await acp.request(methods.agent.session.load, { sessionId: 'desk', cwd: process.cwd(), mcpServers: [] })
    more.open()
    await done
    await until(() => updates().length >= 3, 'the answer')
    expect(told(updates())).toEqual(['user: hello?', 'says: Yes, sir.', 'says: At once.'])
  })

  it('are of the session alone whose agent speaks, and of none without the wish', async () => {
    const { open, prompt, updates } = await host({
      adapter: new Streams(says(start(), delta('a'), delta('b'), end('ab'), stop)),
      tools: [tool('x', () => '')],
    })
    await prompt(await open(), 'go')
    expect(told(updates())).toEqual(['says: ab'])
  })
})
