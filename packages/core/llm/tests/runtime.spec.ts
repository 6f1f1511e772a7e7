import { Context } from '@deepseek-ai/cordis'
import LlmRuntime, { codeOf, LlmAdapter, LlmError, LlmRuntime as Named, type LlmRequest, type StreamChunk } from '@loopguard/llm'
import { describe, expect, it } from 'vitest'
import { adapterOf, collect, finish, gate, host, requestOf, saying, streamed } from './support.ts'

const failed = (kind: 'error' | 'aborted', code: string, message: string): StreamChunk => ({
  type: 'finish',
  reason: { kind, failure: { code, message } },
})

describe('registerAdapter', () => {
  it('serves each of its providers until its disposer runs', async () => {
    const ctx = await host()
    const dispose = ctx.llm.registerAdapter(
      ['p', 'q'],
      adapterOf(() => streamed(saying('hi'))),
    )
    expect(await collect(ctx.llm.stream(requestOf({ provider: 'q' })))).toEqual(saying('hi'))
    dispose()
    dispose()
    expect(await collect(ctx.llm.stream(requestOf({ provider: 'q' })))).toEqual([
      failed('error', 'NO_ADAPTER', 'no adapter for provider "q" (registered: none)'),
    ])
  })

  it('goes with the fiber that registered it', async () => {
    const ctx = await host()
    const plugin = {
      inject: ['llm'],
      apply: (inner: Context) =>
        void inner.llm.registerAdapter(
          ['p'],
          adapterOf(() => streamed(saying('hi'))),
        ),
    }
    const fiber = await ctx.plugin(plugin)
    expect(await collect(ctx.llm.stream(requestOf()))).toEqual(saying('hi'))
    expect(ctx.llm.providers()).toEqual(['p'])
    await fiber.dispose()
    expect(ctx.llm.providers()).toEqual([])
    expect(await collect(ctx.llm.stream(requestOf()))).toEqual([
      failed('error', 'NO_ADAPTER', 'no adapter for provider "p" (registered: none)'),
    ])
  })

  it.each<[string, unknown, unknown, string, string]>([
    ['no provider', [], {}, 'BAD_PROVIDER', 'llm: an adapter must name at least one provider, got []'],
    ['a blank provider', ['p', ' '], {}, 'BAD_PROVIDER', 'llm: a provider name must be non-blank text, got " " (at index 1)'],
    ['a provider that is no text', [7], {}, 'BAD_PROVIDER', 'llm: a provider name must be non-blank text, got 7 (at index 0)'],
    ['a provider twice', ['p', 'p'], {}, 'PROVIDER_EXISTS', 'llm: provider "p" has an adapter already'],
    ['a provider that is served', ['new', 'taken'], {}, 'PROVIDER_EXISTS', 'llm: provider "taken" has an adapter already'],
    ['no adapter', ['p'], undefined, 'BAD_ADAPTER', 'llm: the adapter for p has no stream() method'],
    ['an adapter without stream', ['p'], { stream: 1 }, 'BAD_ADAPTER', 'llm: the adapter for p has no stream() method'],
  ])('refuses %s, and registers nothing', async (_what, providers, adapter, code, message) => {
    const ctx = await host()
    ctx.llm.registerAdapter(
      ['taken'],
      adapterOf(() => streamed(saying('hi'))),
    )
    const register = (): unknown =>
      ctx.llm.registerAdapter(
        providers as string[],
        adapter === undefined || 'stream' in (adapter as object) ? (adapter as LlmAdapter) : adapterOf(() => streamed([])),
      )
    expect(register).toThrow(expect.objectContaining({ code, message }))
    expect(await collect(ctx.llm.stream(requestOf({ provider: 'new' })))).toEqual([
      failed('error', 'NO_ADAPTER', 'no adapter for provider "new" (registered: "taken")'),
    ])
  })

  it('keeps the names that it was given, whatever becomes of the list', async () => {
    const ctx = await host()
    const names = ['p']
    const dispose = ctx.llm.registerAdapter(
      names,
      adapterOf(() => streamed(saying('hi'))),
    )
    names[0] = 'q'
    dispose()
    ctx.llm.registerAdapter(
      ['p'],
      adapterOf(() => streamed(saying('again'))),
    )
    expect(await collect(ctx.llm.stream(requestOf()))).toEqual(saying('again'))
  })
})

describe('a stream ends with one finish when', () => {
  const aborted = requestOf({ signal: AbortSignal.abort() })
  async function* after(chunks: readonly StreamChunk[], act: () => void): AsyncGenerator<StreamChunk, void, undefined> {
    yield* chunks
    act()
  }
  const boom = (error: unknown) => (): never => {
    throw error
  }
  const head = saying('hi').slice(0, 2)

  it.each<[string, (request: LlmRequest) => AsyncIterable<StreamChunk>, LlmRequest, StreamChunk[]]>([
    ['streams as it should', () => streamed(saying('hi')), requestOf(), saying('hi')],
    ['throws before it streams', boom(new Error('boom')), requestOf(), [failed('error', 'ADAPTER_FAILED', 'boom')]],
    ['throws at once', () => after([], boom(new Error('boom'))), requestOf(), [failed('error', 'ADAPTER_FAILED', 'boom')]],
    ['throws in the middle', () => after(head, boom(new Error('boom'))), requestOf(), [...head, failed('error', 'ADAPTER_FAILED', 'boom')]],
    [
      'throws something with a code',
      boom(Object.assign(new Error('no'), { code: 'ECONNRESET' })),
      requestOf(),
      [failed('error', 'ECONNRESET', 'no')],
    ],
    ['throws text', boom('boom'), requestOf(), [failed('error', 'ADAPTER_FAILED', 'boom')]],
    ['throws undefined', boom(undefined), requestOf(), [failed('error', 'ADAPTER_FAILED', 'undefined')]],
    ['throws after an abort', () => after(head, boom(new Error('gone'))), aborted, [...head, failed('aborted', 'ADAPTER_FAILED', 'gone')]],
    ['throws after its finish', () => after(saying('hi'), boom(new Error('late'))), requestOf(), saying('hi')],
    [
      'has no finish',
      () => streamed(head),
      requestOf(),
      [...head, failed('error', 'NO_FINISH', 'the stream of provider "p" ended without a finish')],
    ],
    [
      'stops when it is aborted',
      () => streamed(head),
      aborted,
      [...head, failed('aborted', 'REQUEST_ABORTED', 'the request to provider "p" was aborted')],
    ],
    ['finishes twice', () => streamed([...saying('hi'), finish]), requestOf(), saying('hi')],
    ['streams after its finish', () => streamed([finish, ...saying('hi')]), requestOf(), [finish]],
    [
      'is no stream',
      () => [finish] as never,
      requestOf(),
      [failed('error', 'BAD_STREAM', 'the adapter of provider "p" returned no stream')],
    ],
    [
      'is nothing',
      () => undefined as never,
      requestOf(),
      [failed('error', 'BAD_STREAM', 'the adapter of provider "p" returned no stream')],
    ],
  ])('the source %s', async (what, source, request, expected) => {
    const breaksTheGrammar = ['finishes twice', 'streams after its finish'].includes(what)
    const ctx = await host({ invariants: !breaksTheGrammar })
    ctx.llm.registerAdapter(['p'], adapterOf(source))
    expect(await collect(ctx.llm.stream(request))).toEqual(expected)
  })

  it('an LlmError brings its whole failure', async () => {
    const ctx = await host()
    const details = { status: 429, retryAfterMs: 1_000, requestId: 'r' }
    ctx.llm.registerAdapter(['p'], adapterOf(boom(new LlmError('slow down', 'RATE_LIMITED', details))))
    const failure = { message: 'slow down', code: 'RATE_LIMITED', ...details }
    expect(await collect(ctx.llm.stream(requestOf()))).toEqual([{ type: 'finish', reason: { kind: 'error', failure } }])
  })

  it('a chunk that is nothing ends it too', async () => {
    const ctx = await host()
    ctx.llm.registerAdapter(
      ['p'],
      adapterOf(() => streamed([undefined as never])),
    )
    const chunks = await collect(ctx.llm.stream(requestOf()))
    expect(chunks).toMatchObject([{ type: 'finish', reason: { kind: 'error', failure: { code: 'ADAPTER_FAILED' } } }])
  })
})

describe('an early exit', () => {
  it('calls return() of the source, and waits for it', async () => {
    const ctx = await host()
    const [cleanup, entered] = [gate(), gate()]
    const story: string[] = []
    ctx.llm.registerAdapter(
      ['p'],
      adapterOf(async function* () {
        try {
          yield* saying('hi')
        } finally {
          story.push('cleaning')
          entered.open()
          await cleanup.opened
          story.push('clean')
        }
      }),
    )
    const leaving = (async () => {
      for await (const chunk of ctx.llm.stream(requestOf())) {
        story.push(chunk.type)
        break
      }
      story.push('left')
    })()
    await entered.opened
    expect(story).toEqual(['block-start', 'cleaning'])
    cleanup.open()
    await leaving
    expect(story).toEqual(['block-start', 'cleaning', 'clean', 'left'])
  })

  it('before the first demand asks no adapter', async () => {
    const ctx = await host()
    let asked = 0
    ctx.llm.registerAdapter(
      ['p'],
      adapterOf(() => (asked++, streamed(saying('hi')))),
    )
    const iterator = ctx.llm.stream(requestOf())[Symbol.asyncIterator]()
    expect(await iterator.return?.()).toEqual({ value: undefined, done: true })
    expect([await iterator.next(), asked]).toEqual([{ value: undefined, done: true }, 0])
  })

  it('is over even when the source throws while it is closed', async () => {
    const ctx = await host()
    ctx.llm.registerAdapter(
      ['p'],
      adapterOf(async function* () {
        try {
          yield* saying('hi')
        } finally {
          // oxlint-disable-next-line no-unsafe-finally -- the fault under test
          throw new Error('cannot close')
        }
      }),
    )
    const iterator = ctx.llm.stream(requestOf())[Symbol.asyncIterator]()
    await iterator.next()
    expect(await iterator.return?.()).toEqual({ value: undefined, done: true })
    expect(await iterator.next()).toEqual({ value: undefined, done: true })
  })

  it('at the finish closes the source too', async () => {
    const ctx = await host()
    const story: string[] = []
    ctx.llm.registerAdapter(
      ['p'],
      adapterOf(async function* () {
        try {
          yield* saying('hi')
        } finally {
          story.push('closed')
        }
      }),
    )
    for await (const chunk of ctx.llm.stream(requestOf())) if (chunk.type === 'finish') break
    expect(story).toEqual(['closed'])
  })
})

it('the adapter gets the request frozen, and the caller keeps its own object', async () => {
  const ctx = await host()
  const seen: LlmRequest[] = []
  ctx.llm.registerAdapter(
    ['p'],
    adapterOf((request) => (seen.push(request), streamed([finish]))),
  )
  const [loose, frozen] = [requestOf(), Object.freeze(requestOf())]
  await collect(ctx.llm.stream(loose))
  await collect(ctx.llm.stream(frozen))
  expect([Object.isFrozen(loose), Object.isFrozen(seen[0]), seen[0]]).toEqual([false, true, loose])
  expect(seen[1]).toBe(frozen)
})

it('is the default export and the named one', async () => {
  expect(LlmRuntime).toBe(Named)
  expect((await host()).llm).toBeInstanceOf(LlmRuntime)
})

it('a failure that NO_ADAPTER stands for has that code, and nothing is thrown', async () => {
  const ctx = await host()
  const [last] = await collect(ctx.llm.stream(requestOf()))
  expect(codeOf((last as { reason: { failure: unknown } }).reason.failure)).toBe('NO_ADAPTER')
})
