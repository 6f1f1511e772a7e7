import { setTimeout as sleep } from 'node:timers/promises'
import { answers, framesOf, type Piece, says, streams } from '@loopguard/testkit/model-server'
import { describe, expect, it } from 'vitest'
import { BOTH, stage, textEvent } from './stage.ts'

const IDLE_MS = 300
const TIMEOUT = { code: 'TIMEOUT', message: `provider "served" was silent for ${IDLE_MS}ms`, retryable: true }

/** For what must not run out of time on a busy machine. */
const LONG_MS = 1_200

/** The same pieces, each some time after the one before: all of them together take longer than {@link LONG_MS}. */
const slowly = (pieces: readonly string[]): Piece[] => pieces.flatMap((piece) => [piece, () => sleep(LONG_MS / 5)])

describe.each(BOTH)('%s: the clock', (kind) => {
  const config = { idleTimeoutMs: IDLE_MS }

  it.each([
    ['before the headers', 'hang' as const],
    ['behind the headers', streams([], { end: 'open' })],
    ['in the middle of an answer', says({ text: 'one two three' }, { cutAfter: 4, end: 'open' })],
    ['in the middle of an event', streams((dialect) => [framesOf(dialect, { text: 'one' }).join('').slice(0, 150)], { end: 'open' })],
    ['in the body of an error', answers(500, 'it all went', {}, { end: 'open' })],
    ['in a body that is no stream of events', answers(200, 'it all went', {}, { end: 'open' })],
  ])('ends a silence %s, and shuts the connection', async (_place, entry) => {
    const { ask, server } = await stage({ kind, config, entries: [entry] })
    expect((await ask()).failure).toEqual(TIMEOUT)
    expect(await server.requests[0]?.closed).toBe(false)
    await expect.poll(() => server.connections()).toBe(0)
  })

  it.each([
    ['comments', [': ping\n\n', ': ping\n\n', ':\n', ':\n', ': ping\n\n', ': ping\n\n', ': ping\n\n']],
    ['events without text', Array.from({ length: 7 }, () => textEvent(kind, ''))],
    ['single bytes of an event', [':', ' ', 'p', 'i', 'n', 'g', '\n\n']],
  ])('counts %s as signs of life', async (_what, signs) => {
    const { ask } = await stage({
      kind,
      config: { idleTimeoutMs: LONG_MS },
      entries: [
        streams((dialect) => {
          const frames = framesOf(dialect, { text: 'one' })
          const at = dialect === 'messages' ? 3 : 1
          return [...frames.slice(0, at), ...slowly(signs), ...frames.slice(at)]
        }),
      ],
    })
    const begun = performance.now()
    expect(await ask()).toMatchObject({ text: 'one', finish: { kind: 'stop' } })
    expect(performance.now() - begun).toBeGreaterThan(LONG_MS)
  })

  it('counts the bytes of an error as signs of life', async () => {
    const words = ['the ', 'server ', 'is ', 'slow', 'ly ', 'going ', 'down']
    const { ask } = await stage({ kind, config: { idleTimeoutMs: LONG_MS }, entries: [{ ...answers(500), body: () => slowly(words) }] })
    expect((await ask()).failure).toMatchObject({
      code: 'SERVER',
      message: 'provider "served" answered 500: the server is slowly going down',
    })
  })

  it('does not run while the consumer takes its time', async () => {
    const { stream } = await stage({ kind, config: { idleTimeoutMs: LONG_MS }, entries: [says({ text: 'one two three' })] })
    let kinds = ''
    for await (const chunk of stream()) {
      kinds += ` ${chunk.type}`
      if (chunk.type === 'text-delta') await sleep(LONG_MS * 1.2)
    }
    expect(kinds).toMatch(/ text-delta text-delta block-end usage finish$/)
  })
})
