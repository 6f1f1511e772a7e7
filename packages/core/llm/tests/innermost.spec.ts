import type { Context } from '@deepseek-ai/cordis'
import { isHopAwaited } from '@loopguard/kit'
import type { StreamChunk } from '@loopguard/llm'
import { mountInvariants } from '@loopguard/testkit'
import { expect, it } from 'vitest'
import { adapterOf, collect, finish, host, requestOf, saying, streamed } from './support.ts'

// What the innermost listener of a stream gets, whatever the adapter does.

type Asked = IteratorResult<StreamChunk, unknown>

async function listening(source: () => AsyncIterable<StreamChunk>): Promise<{ ctx: Context; ask: () => Promise<StreamChunk[]> }> {
  const ctx = await host({ invariants: false })
  ctx.llm.registerAdapter(['p'], adapterOf(source))
  return { ctx, ask: () => collect(ctx.llm.stream(requestOf())) }
}

/** The innermost stream itself, for a consumer that asks by hand. */
async function byHand(source: () => AsyncIterable<StreamChunk>): Promise<Required<AsyncIterator<StreamChunk, unknown>>> {
  const { ctx, ask } = await listening(source)
  let inner: AsyncIterator<StreamChunk, unknown> | undefined
  ctx.on('llm/stream', (_request, next) => {
    inner = next()[Symbol.asyncIterator]()
    return streamed([finish])
  })
  await ask()
  return inner as Required<AsyncIterator<StreamChunk, unknown>>
}

const busy = (ms: number): void => {
  for (const until = performance.now() + ms; performance.now() < until;);
}
const iteratorOf = (next: () => unknown): AsyncIterable<StreamChunk> => ({
  [Symbol.asyncIterator]: () => ({ next: next as () => Promise<Asked> }),
})

it('results that are no promises are read', async () => {
  const chunks = saying('hi')
  const { ctx, ask } = await listening(() => {
    const left = chunks.slice()
    return iteratorOf(() => ({ done: left.length === 0, value: left.shift() }))
  })
  ctx.on('llm/stream', (_request, next) => next())
  expect(await ask()).toEqual(chunks)
})

it('a source of what is no chunk is closed before its failure is told', async () => {
  let isClosed = false
  const seen: unknown[] = []
  const { ctx, ask } = await listening(async function* () {
    try {
      yield null as never
    } finally {
      isClosed = true
    }
  })
  ctx.on('llm/stream', async function* (_request, next) {
    for await (const chunk of next()) {
      seen.push(isClosed)
      yield chunk
    }
  })
  expect(await ask()).toMatchObject([{ type: 'finish', reason: { kind: 'error', failure: { code: 'ADAPTER_FAILED' } } }])
  expect(seen).toEqual([true])
})

it('what throws at once behind the finish is the end', async () => {
  let asked = 0
  const inner = await byHand(() =>
    iteratorOf(() => {
      if (asked++ > 0) throw new Error('no more')
      return Promise.resolve({ done: false, value: finish })
    }),
  )
  expect([await inner.next(), await inner.next(), await inner.next(), asked]).toEqual([
    { done: false, value: finish },
    { done: true, value: undefined },
    { done: true, value: undefined },
    2,
  ])
})

it('of demands that overlap, one behind the finish is the end, and no second finish', async () => {
  for (const late of [() => Promise.reject(new Error('late')), () => Promise.resolve({ done: true, value: undefined })]) {
    const answers = [() => Promise.resolve({ done: false, value: finish }), late]
    const inner = await byHand(() => iteratorOf(() => answers.shift()?.()))
    expect(await Promise.all([inner.next(), inner.next()])).toEqual([
      { done: false, value: finish },
      { done: true, value: undefined },
    ])
  }
})

it('a consumer that leaves while a hop is waited for opens nothing', async () => {
  let opened = 0
  const inner = await byHand(() => {
    opened++
    return streamed([finish])
  })
  busy(20)
  const asking = inner.next()
  expect([await inner.return(), await asking, opened]).toEqual([{ done: true, value: undefined }, { done: true, value: undefined }, 0])
})

it('behind the finish nobody waits for a hop, until a source goes on and on', async () => {
  const inner = await byHand(async function* () {
    for (;;) yield finish
  })
  await inner.next()
  busy(20)
  const asking = inner.next()
  expect(isHopAwaited()).toBe(false)
  await asking
  let turned = false
  setImmediate(() => (turned = true))
  for (let round = 0; round < 100_000 && !turned; round++) await inner.next()
  expect(turned).toBe(true)
})

/** Answers each demand with `next`, under the companion's watch; what is done with the source is written down. */
async function watched(
  next: () => Promise<IteratorResult<StreamChunk>>,
  consume: (inner: AsyncIterator<StreamChunk>, story: string[]) => Promise<void>,
) {
  const { ctx } = await listening(() => streamed([]))
  await mountInvariants(ctx, { package_allowlist: ['^@loopguard/llm$'] })
  const story: string[] = []
  const source = {
    next() {
      story.push('next')
      return next()
    },
    async return() {
      story.push('return')
      return { done: true as const, value: undefined }
    },
  }
  ctx.on('llm/stream', () => ({ [Symbol.asyncIterator]: () => source }))
  ctx.on(
    'llm/stream',
    async function* (_request, inner) {
      await consume(inner()[Symbol.asyncIterator](), story)
      yield finish
    },
    { prepend: true },
  )
  expect(await collect(ctx.llm.stream(requestOf()))).toEqual([finish])
  return story
}

it('the companion closes a source whose chunks it refuses, before it says so, and asks it for nothing more', async () => {
  const chunk = { done: false as const, value: { type: 'image' } as never }
  const story = await watched(
    () => Promise.resolve(chunk),
    async (inner, said) => {
      await inner.next().catch(() => said.push('violation'))
      said.push(`done ${(await inner.next()).done}`)
      await inner.return?.()
    },
  )
  expect(story).toEqual(['next', 'return', 'violation', 'done true'])
})

it('the companion does not close a source that has failed', async () => {
  const story = await watched(
    () => Promise.reject(new Error('no')),
    async (inner, said) => {
      await inner.next().catch(() => said.push('failed'))
      await inner.return?.()
    },
  )
  expect(story).toEqual(['next', 'failed'])
})
