import type { StreamChunk } from '@loopguard/llm'
import { expect, it } from 'vitest'
import { adapterOf, collect, finish, host, requestOf, saying, streamed } from './support.ts'

it('listeners stand around the adapter, the first registered outermost', async () => {
  const ctx = await host()
  const story: string[] = []
  ctx.llm.registerAdapter(
    ['p'],
    adapterOf(() => (story.push('adapter'), streamed(saying('hi')))),
  )
  for (const name of ['outer', 'inner']) {
    ctx.on('llm/stream', (request, next) => {
      story.push(`${name} ${request.model}`)
      return next()
    })
  }
  expect(await collect(ctx.llm.stream(requestOf()))).toEqual(saying('hi'))
  expect(story).toEqual(['outer m', 'inner m', 'adapter'])
})

it('a listener can change what the consumer gets, and answer in place of the adapter', async () => {
  const ctx = await host({ invariants: false })
  let asked = 0
  ctx.llm.registerAdapter(
    ['p'],
    adapterOf(() => (asked++, streamed(saying('hi')))),
  )
  const dispose = ctx.on('llm/stream', async function* (_request, next) {
    for await (const chunk of next()) yield chunk.type === 'text-delta' ? { ...chunk, text: chunk.text.toUpperCase() } : chunk
  })
  expect((await collect(ctx.llm.stream(requestOf())))[1]).toEqual({ type: 'text-delta', index: 0, text: 'HI' })
  dispose()
  ctx.on('llm/stream', () => streamed(saying('from the cache')))
  expect([await collect(ctx.llm.stream(requestOf())), asked]).toEqual([saying('from the cache'), 1])
})

it('a retry runs the rest of the chain again: the inner listener and the adapter', async () => {
  const ctx = await host()
  const story: string[] = []
  let attempt = 0
  ctx.llm.registerAdapter(
    ['p'],
    adapterOf(async function* () {
      story.push(`adapter ${++attempt}`)
      if (attempt < 3) throw new Error('not yet')
      yield* saying('at last')
    }),
  )
  ctx.on('llm/stream', async function* (_request, next) {
    for (;;) {
      const chunks: StreamChunk[] = await collect(next())
      const last = chunks.at(-1)
      if (last?.type === 'finish' && last.reason.kind === 'error') continue
      yield* chunks
      return
    }
  })
  ctx.on('llm/stream', (_request, next) => {
    story.push('inner')
    return next()
  })
  expect(await collect(ctx.llm.stream(requestOf()))).toEqual(saying('at last'))
  expect(story).toEqual(['inner', 'adapter 1', 'inner', 'adapter 2', 'inner', 'adapter 3'])
})

it('what a listener sees has its one finish already', async () => {
  const ctx = await host()
  ctx.llm.registerAdapter(
    ['p'],
    adapterOf(() => streamed([])),
  )
  const seen: string[] = []
  ctx.on('llm/stream', async function* (_request, next) {
    for await (const chunk of next()) {
      seen.push(chunk.type)
      yield chunk
    }
  })
  await collect(ctx.llm.stream(requestOf()))
  expect(seen).toEqual(['finish'])
})

it.each<[string, (() => never) | undefined]>([
  ['ends', undefined],
  [
    'throws',
    () => {
      throw new Error('late')
    },
  ],
])('what an adapter sends at once behind its finish passes a listener, and no second finish follows when it then %s', async (_how, act) => {
  const ctx = await host({ invariants: false })
  const usage: StreamChunk = { type: 'usage', usage: { inputTokens: 1, outputTokens: 1 } }
  ctx.llm.registerAdapter(
    ['p'],
    adapterOf(async function* () {
      yield* [...saying('hi'), usage]
      act?.()
    }),
  )
  const seen: StreamChunk[] = []
  ctx.on('llm/stream', async function* (_request, next) {
    const chunks = await collect(next())
    seen.push(...chunks)
    yield* chunks
  })
  expect(await collect(ctx.llm.stream(requestOf()))).toEqual(saying('hi'))
  expect(seen).toEqual([...saying('hi'), usage])
})

const over = { value: undefined, done: true }

it('a listener that leaves an adapter which cannot be closed gets no chunk for it', async () => {
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
  const answers: unknown[] = []
  ctx.on('llm/stream', async function* (_request, next) {
    const source = next()[Symbol.asyncIterator]()
    await source.next()
    answers.push(await source.return?.(), await source.next())
    yield* saying('from the listener')
  })
  expect(await collect(ctx.llm.stream(requestOf()))).toEqual(saying('from the listener'))
  expect(answers).toEqual([over, over])
})

it('a consumer that leaves a listener which cannot be closed gets no chunk for it', async () => {
  const ctx = await host({ invariants: false })
  ctx.llm.registerAdapter(
    ['p'],
    adapterOf(() => streamed(saying('hi'))),
  )
  ctx.on('llm/stream', async function* (_request, next) {
    try {
      yield* next()
    } finally {
      // oxlint-disable-next-line no-unsafe-finally -- the fault under test
      throw new Error('cannot close')
    }
  })
  const iterator = ctx.llm.stream(requestOf())[Symbol.asyncIterator]()
  await iterator.next()
  expect([await iterator.return?.(), await iterator.next()]).toEqual([over, over])
})

const ended = (code: string, message: string): StreamChunk => ({ type: 'finish', reason: { kind: 'error', failure: { code, message } } })

it.each<[string, () => AsyncIterable<StreamChunk>, StreamChunk]>([
  [
    'throws',
    () => {
      throw new Error('boom')
    },
    ended('ADAPTER_FAILED', 'boom'),
  ],
  [
    'returns nothing',
    () => undefined as never,
    ended('BAD_STREAM', 'llm/stream: a listener returned no stream; is a `return next()` missing?'),
  ],
  [
    'returns a promise',
    () => Promise.resolve() as never,
    ended('BAD_STREAM', 'llm/stream: a listener returned no stream; is a `return next()` missing?'),
  ],
  ['ends without a finish', () => streamed([]), ended('NO_FINISH', 'the stream of provider "p" ended without a finish')],
])('a listener that %s ends the stream with an error', async (_what, listener, expected) => {
  const ctx = await host({ invariants: false })
  ctx.llm.registerAdapter(
    ['p'],
    adapterOf(() => streamed(saying('hi'))),
  )
  ctx.on('llm/stream', listener)
  expect(await collect(ctx.llm.stream(requestOf()))).toEqual([expected])
})

it('a veto in internal/dispatch ends the stream with an error', async () => {
  const ctx = await host()
  ctx.llm.registerAdapter(
    ['p'],
    adapterOf(() => streamed([finish])),
  )
  ctx.on('internal/dispatch', (_mode, name) => {
    if (name === 'llm/stream') throw new Error('not today')
  })
  expect(await collect(ctx.llm.stream(requestOf()))).toEqual([ended('ADAPTER_FAILED', 'not today')])
})

it('a listener is gone after its disposal', async () => {
  const ctx = await host()
  ctx.llm.registerAdapter(
    ['p'],
    adapterOf(() => streamed([finish])),
  )
  let heard = 0
  const dispose = ctx.on('llm/stream', (_request, next) => (heard++, next()))
  await collect(ctx.llm.stream(requestOf()))
  dispose()
  await collect(ctx.llm.stream(requestOf()))
  expect(heard).toBe(1)
})
