import type { Context } from '@deepseek-ai/cordis'
import { CallId, LlmError, type StreamChunk, text } from '@loopguard/llm'
import { type InvariantWatch, mountInvariants } from '@loopguard/testkit'
import { describe, expect, it } from 'vitest'
import { adapterOf, collect, finish, gate, host, requestOf, saying, streamed } from './support.ts'

interface Watched {
  readonly ctx: Context
  readonly watch: InvariantWatch
  /** What the consumer gets when the adapter streams this. */
  readonly ask: (source: () => AsyncIterable<StreamChunk>) => Promise<StreamChunk[]>
}

async function watched(): Promise<Watched> {
  const ctx = await host({ invariants: false })
  const watch = await mountInvariants(ctx, { package_allowlist: ['^@loopguard/llm$'] })
  return {
    ctx,
    watch,
    ask: async (source) => {
      using _adapter = registered(ctx, source)
      return await collect(ctx.llm.stream(requestOf()))
    },
  }
}

function registered(ctx: Context, source: () => AsyncIterable<StreamChunk>): Disposable {
  const dispose = ctx.llm.registerAdapter(['p'], adapterOf(source))
  return { [Symbol.dispose]: dispose }
}

const start = (blockType: 'text' | 'reasoning' | 'tool-call' = 'text', index = 0): StreamChunk => ({
  type: 'block-start',
  index,
  blockType,
})
const delta = (words: string, index = 0): StreamChunk => ({ type: 'text-delta', index, text: words })
const end = (words: string, index = 0): StreamChunk => ({ type: 'block-end', index, block: text(words) })
const callDelta = (id: string, name: string): StreamChunk => ({
  type: 'tool-call-delta',
  index: 0,
  id: CallId(id),
  name,
  argumentsDelta: '{}',
})
const callEnd = (id: string, name: string): StreamChunk => ({
  type: 'block-end',
  index: 0,
  block: { type: 'tool-call', id: CallId(id), name, arguments: '{}' },
})

/** What the companion says of a stream, which fails where it breaks the grammar. */
async function verdictOn(...chunks: readonly StreamChunk[]): Promise<string | undefined> {
  const { watch, ask } = await watched()
  const got = await ask(() => streamed(chunks))
  watch.assertBroken('@loopguard/llm', /^invariant violated by "@loopguard\/llm": stream of provider "p", session "s": /)
  expect(watch.violations).toHaveLength(1)
  expect(got.at(-1)).toMatchObject({ type: 'finish', reason: { kind: 'error', failure: { code: 'INVARIANT' } } })
  return watch.violations[0]?.message.split('session "s": ')[1]
}

describe('each block of a stream is started once, filled, and ended whole', () => {
  it('trips when a delta comes for a block that was not started', async () => {
    expect(await verdictOn(delta('hi'), finish)).toBe('block 0 was not started')
  })

  it('trips when a block is started twice', async () => {
    expect(await verdictOn(start(), start(), finish)).toBe('block 0 was started twice')
  })

  it('trips when a delta comes after the end of its block', async () => {
    expect(await verdictOn(start(), end('hi'), delta('hi'), finish)).toBe('block 0 has ended already')
  })

  it('trips when a block ends that was not started, or has ended, or was another', async () => {
    expect(await verdictOn(end('hi'), finish)).toBe('block 0 was not started')
    expect(await verdictOn(start(), end('hi'), end('hi'), finish)).toBe('block 0 has ended already')
    expect(await verdictOn(start('reasoning'), end('hi'), finish)).toBe('block 0 is a reasoning, not a text')
  })

  it('trips when a delta is of another type than its block', async () => {
    expect(await verdictOn(start('reasoning'), delta('hi'), finish)).toBe('block 0 is a reasoning, not a text')
  })

  it('trips when a block ends with another text than its deltas spell', async () => {
    const verdict = await verdictOn(start(), delta('he'), delta('y'), end('hi'), finish)
    expect(verdict).toBe('block 0 ended with another text than its deltas spell')
  })

  it('trips when the id of a call changes between its deltas', async () => {
    const verdict = await verdictOn(start('tool-call'), callDelta('a', 'look'), callDelta('b', 'look'), finish)
    expect(verdict).toBe('block 0 is call "a", and became call "b"')
  })

  it('trips when a call ends with another id or name than its deltas say', async () => {
    for (const wrong of [callEnd('b', 'look'), callEnd('a', 'edit')]) {
      const verdict = await verdictOn(start('tool-call'), callDelta('a', 'look'), wrong, finish)
      expect(verdict).toBe('block 0 ended as another call than its deltas name')
    }
  })

  it('trips when a chunk is of no known type', async () => {
    expect(await verdictOn({ type: 'image' } as never, finish)).toBe('unknown chunk type "image"')
  })

  it('trips when a stream that stops as it should leaves a block open', async () => {
    expect(await verdictOn(start(), delta('hi'), finish)).toBe('it finished (stop) while block 0 was open')
  })
})

describe('the finish comes last, and once', () => {
  it('trips when an adapter sends two finishes', async () => {
    const { watch, ask } = await watched()
    expect(await ask(() => streamed([...saying('hi'), finish]))).toEqual(saying('hi'))
    watch.assertBroken('@loopguard/llm', /stream of provider "p", session "s": a "finish" chunk came after the finish$/)
  })

  it('trips when an adapter streams on after its finish', async () => {
    const { watch, ask } = await watched()
    expect(await ask(() => streamed([finish, ...saying('hi')]))).toEqual([finish])
    watch.assertBroken('@loopguard/llm', /a "block-start" chunk came after the finish$/)
  })

  it('trips on it also when the thread was busy in between for so long that a hop is due', async () => {
    const { watch, ask } = await watched()
    const late = async function* (): AsyncGenerator<StreamChunk> {
      yield finish
      for (const until = performance.now() + 20; performance.now() < until;);
      yield* saying('hi')
    }
    expect(await ask(late)).toEqual([finish])
    watch.assertBroken('@loopguard/llm', /a "block-start" chunk came after the finish$/)
  })

  it('trips when a listener swallows the finish', async () => {
    const { ctx, watch, ask } = await watched()
    ctx.on('llm/stream', async function* (_request, next) {
      for await (const chunk of next()) if (chunk.type !== 'finish') yield chunk
    })
    expect((await ask(() => streamed(saying('hi')))).at(-1)).toMatchObject({ reason: { failure: { code: 'INVARIANT' } } })
    watch.assertBroken('@loopguard/llm', /it ended without a finish$/)
  })

  it('trips when a listener that gathers passes on what came after the finish', async () => {
    const { ctx, watch, ask } = await watched()
    ctx.on('llm/stream', async function* (_request, next) {
      yield* await collect(next())
    })
    expect(await ask(() => streamed([...saying('hi'), ...saying('ho')]))).toEqual(saying('hi'))
    watch.assertBroken('@loopguard/llm', /came after the finish$/)
  })
})

describe('the finish comes last, and once, also for', () => {
  it('a listener outside of the companion that gathers', async () => {
    const { ctx, watch, ask } = await watched()
    ctx.on(
      'llm/stream',
      async function* (_request, next) {
        yield* await collect(next())
      },
      { prepend: true },
    )
    // It asks for what stands behind the finish, and gets the violation.
    expect((await ask(() => streamed([...saying('hi'), finish]))).at(-1)).toMatchObject({ reason: { failure: { code: 'INVARIANT' } } })
    expect(watch.violations).toHaveLength(1)
    watch.assertBroken('@loopguard/llm', /a "finish" chunk came after the finish$/)
  })
})

describe('the companion is silent about', () => {
  it.each<[string, StreamChunk[]]>([
    ['a message', saying('hi')],
    [
      'blocks that interleave',
      [
        start(),
        start('reasoning', 1),
        delta('a'),
        { type: 'reasoning-delta', index: 1, text: 'b' },
        { type: 'block-end', index: 1, block: { type: 'reasoning', text: 'b' } },
        end('a'),
        finish,
      ],
    ],
    [
      'a block that is not streamed, only ended',
      [start(), end('hi'), { type: 'usage', usage: { inputTokens: 1, outputTokens: 1 } }, finish],
    ],
    [
      'a call whose name comes with its end',
      [
        start('tool-call'),
        { type: 'tool-call-delta', index: 0, id: CallId('a'), argumentsDelta: '{}' },
        callEnd('a', 'look'),
        { type: 'finish', reason: { kind: 'tool-calls' } },
      ],
    ],
    ['a block left open by the token limit', [start(), delta('h'), { type: 'finish', reason: { kind: 'max-tokens' } }]],
    [
      'a block left open by a failure',
      [start(), delta('h'), { type: 'finish', reason: { kind: 'error', failure: { message: 'no', code: 'NO' } } }],
    ],
  ])('%s', async (_what, chunks) => {
    const { watch, ask } = await watched()
    expect(await ask(() => streamed(chunks))).toEqual(chunks)
    watch.assertNone()
  })

  it('a source that throws, before or behind its finish, or never finishes', async () => {
    const { watch, ask } = await watched()
    const throwing = (chunks: StreamChunk[]) =>
      async function* (): AsyncGenerator<StreamChunk> {
        yield* chunks
        throw new LlmError('busy', 'BUSY')
      }
    expect((await ask(throwing([start()]))).at(-1)).toMatchObject({ reason: { failure: { code: 'BUSY' } } })
    expect(await ask(throwing(saying('hi')))).toEqual(saying('hi'))
    expect((await ask(() => streamed([start()]))).at(-1)).toMatchObject({ reason: { failure: { code: 'NO_FINISH' } } })
    watch.assertNone()
  })

  it('a retry: each attempt is a stream of its own', async () => {
    const { ctx, watch, ask } = await watched()
    let attempts = 0
    ctx.on(
      'llm/stream',
      async function* (_request, next) {
        await collect(next())
        yield* next()
      },
      { prepend: true },
    )
    expect(await ask(() => (attempts++, streamed(saying('hi'))))).toEqual(saying('hi'))
    expect(attempts).toBe(2)
    watch.assertNone()
  })

  it('streams that were under way when it was loaded', async () => {
    const ctx = await host({ invariants: false })
    using _adapter = registered(ctx, () => streamed([...saying('hi'), finish]))
    const chunks = ctx.llm.stream(requestOf())[Symbol.asyncIterator]()
    await chunks.next()
    const watch = await mountInvariants(ctx)
    const rest: unknown[] = []
    for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) rest.push(next.value)
    expect(rest).toEqual(saying('hi').slice(1))
    watch.assertNone()
  })

  it('what it sees once it is unloading', async () => {
    const { ctx, watch } = await watched()
    const more = gate()
    using _adapter = registered(ctx, async function* () {
      yield start()
      await more.opened
      yield* [start(), finish]
    })
    const chunks = collect(ctx.llm.stream(requestOf()))
    const registration = ctx.invariants.registrations().find(({ packageName }) => packageName === '@loopguard/llm')
    await registration?.fiber?.dispose()
    more.open()
    expect((await chunks).map(({ type }) => type)).toEqual(['block-start', 'block-start', 'finish'])
    watch.assertNone()
  })
})

describe.each([
  ['with the companion', true],
  ['without it', false],
])('%s', (_how, isOn) => {
  const setUp = async (): Promise<Context> => (isOn ? (await watched()).ctx : host({ invariants: false }))

  it('an adapter that idles behind its finish holds nobody up, a listener that gathers neither', async () => {
    const ctx = await setUp()
    const idles = gate()
    using _adapter = registered(ctx, async function* () {
      yield* saying('hi')
      idles.open()
      await new Promise<never>(() => {})
    })
    expect(await collect(ctx.llm.stream(requestOf()))).toEqual(saying('hi'))
    ctx.on('llm/stream', async function* (_request, next) {
      yield* await collect(next())
    })
    expect(await collect(ctx.llm.stream(requestOf()))).toEqual(saying('hi'))
    await idles.opened
  })

  it('a listener that idles behind the finish holds nobody up', async () => {
    const ctx = await setUp()
    using _adapter = registered(ctx, () => streamed(saying('hi')))
    ctx.on('llm/stream', async function* (_request, next) {
      yield* next()
      await new Promise<never>(() => {})
    })
    expect(await collect(ctx.llm.stream(requestOf()))).toEqual(saying('hi'))
  })

  it('a source that idles behind its finish, and cannot be closed, harms nobody', async () => {
    const ctx = await setUp()
    let closes = 0
    /** Idles behind what it has to say. To be closed takes it time, and fails. */
    const stubborn = (chunks: StreamChunk[]): AsyncIterable<StreamChunk> => ({
      [Symbol.asyncIterator]: () => ({
        next: () => {
          const value = chunks.shift()
          return value === undefined ? new Promise<never>(() => {}) : Promise.resolve({ done: false, value })
        },
        return: () => (closes++, Promise.reject(new Error('cannot be closed'))),
      }),
    })
    using _adapter = registered(ctx, () => stubborn(saying('hi')))
    const passOn = ctx.on('llm/stream', async function* (_request, next) {
      yield* await collect(next())
    })
    expect(await collect(ctx.llm.stream(requestOf()))).toEqual(saying('hi'))
    passOn()
    ctx.on('llm/stream', () => stubborn(saying('ho')))
    expect(await collect(ctx.llm.stream(requestOf()))).toEqual(saying('ho'))
    expect(closes).toBe(2)
  })

  it('an early exit also leaves a source that cannot be closed', async () => {
    const ctx = await setUp()
    const chunks = saying('hi')
    using _adapter = registered(ctx, () => ({
      [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve({ done: false, value: chunks.shift() as StreamChunk }) }),
    }))
    for await (const chunk of ctx.llm.stream(requestOf())) if (chunk.type === 'text-delta') break
    expect(chunks.map(({ type }) => type)).toEqual(['block-end', 'finish'])
  })

  it('an early exit calls return() of the source, and waits for it', async () => {
    const ctx = await setUp()
    const [cleaning, clean] = [gate(), gate()]
    const story: string[] = []
    using _adapter = registered(ctx, async function* () {
      try {
        yield* saying('hi')
      } finally {
        cleaning.open()
        await clean.opened
        story.push('clean')
      }
    })
    const leaving = (async () => {
      for await (const chunk of ctx.llm.stream(requestOf())) if (chunk.type === 'text-delta') break
      story.push('left')
    })()
    await cleaning.opened
    expect(story).toEqual([])
    clean.open()
    await leaving
    expect(story).toEqual(['clean', 'left'])
  })

  it('a source that has failed is not closed, as no loop would', async () => {
    const { ctx, watch } = await watched()
    let closed = 0
    ctx.on('llm/stream', () => ({
      [Symbol.asyncIterator]: () => {
        let asked = 0
        return {
          next: async () => (asked++ === 0 ? { done: false, value: start() } : Promise.reject(new Error('broken'))),
          return: async () => (closed++, { done: true, value: undefined }),
        }
      },
    }))
    const chunks = await collect(ctx.llm.stream(requestOf()))
    expect([chunks.map(({ type }) => type), closed]).toEqual([['block-start', 'finish'], 0])
    watch.assertNone()
  })

  it('at the finish the source is closed', async () => {
    const ctx = await setUp()
    const story: string[] = []
    using _adapter = registered(ctx, async function* () {
      try {
        yield* saying('hi')
      } finally {
        story.push('closed')
      }
    })
    await collect(ctx.llm.stream(requestOf()))
    expect(story).toEqual(['closed'])
  })
})
