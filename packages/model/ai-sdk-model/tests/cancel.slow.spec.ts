import { answers, framesOf, says, streams, type ServerEntry } from '@loopguard/testkit/model-server'
import type { StreamChunk } from '@loopguard/llm'
import { describe, expect, it } from 'vitest'
import { BOTH, hear, listeners, stage } from './stage.ts'

const reply = { reasoning: 'hm', text: 'one two three four', calls: [{ name: 'look', arguments: { at: 'the sea and the sky' } }] }
const open = (cut: (frames: string[]) => string[]): ServerEntry => streams((dialect) => cut(framesOf(dialect, reply)), { end: 'open' })
const until = (words: string) => (frames: string[]) => frames.slice(0, frames.findIndex((frame) => frame.includes(words)) + 1)

describe.each(BOTH)('%s: a cancel', (kind) => {
  it('before the request sends nothing', async () => {
    const { ask, server } = await stage({ kind, entries: [says({ text: 'one' })] })
    const { finish, chunks } = await ask({ signal: AbortSignal.abort() })
    expect(finish).toMatchObject({ kind: 'aborted', failure: { code: 'REQUEST_ABORTED' } })
    expect(chunks).toHaveLength(1)
    expect(server.requests).toEqual([])
  })

  it.each([
    ['before the headers', 'hang', undefined, []],
    ['behind the headers', streams([], { end: 'open' }), undefined, []],
    ['in the body of an error', answers(500, 'it all went', {}, { end: 'open' }), undefined, []],
    ['in a body that is no stream of events', answers(200, 'it all went', {}, { end: 'open' }), undefined, []],
    ['while it reasons', open(until('hm')), 'reasoning-delta', ['hm']],
    ['in the middle of a text', open(until('"ur"')), 'text-delta', ['hm', 'one two three four']],
    ['in the middle of a call', open(until('nd the s')), 'tool-call-delta', ['hm', 'one two three four']],
    ['at the end of a call', open((frames) => frames.slice(0, -2)), 'tool-call-delta', ['hm', 'one two three four']],
  ] satisfies [string, ServerEntry, StreamChunk['type'] | undefined, string[]][])(
    '%s keeps the text so far and no call, shuts the connection at once, and leaves no listener',
    async (place, entry, last, kept) => {
      const { stream, server } = await stage({ kind, entries: [entry] })
      const cancel = new AbortController()
      let heard = 0
      const expected = kept.join('').length
      const watched = (async function* () {
        for await (const chunk of stream({ signal: cancel.signal })) {
          yield chunk
          if (chunk.type === 'text-delta' || chunk.type === 'reasoning-delta') heard += chunk.text.length
          if (chunk.type === last && heard === expected) setImmediate(() => cancel.abort())
        }
      })()
      const hearing = hear(watched)
      const request = await server.request(0)
      if (last === undefined) setTimeout(() => cancel.abort(), 30)
      const { finish, partial, chunks } = await hearing
      expect(finish.kind).toBe('aborted')
      expect(partial.map((block) => 'text' in block && block.text)).toEqual(kept)
      // Half a call is not made whole by the end of its stream.
      const isWhole = chunks.some((chunk) => chunk.type === 'block-end' && chunk.block.type === 'tool-call')
      expect(isWhole && place !== 'at the end of a call').toBe(false)
      expect(await request.closed).toBe(false)
      expect(listeners(cancel.signal)).toBe(0)
      await expect.poll(() => server.connections()).toBe(0)
    },
  )

  it('by a consumer that leaves shuts the connection at once, and leaves no listener', async () => {
    const { stream, server } = await stage({ kind, entries: [open(until('"ur"'))] })
    const { signal } = new AbortController()
    for await (const chunk of stream({ signal })) if (chunk.type === 'text-delta') break
    expect(await server.requests[0]?.closed).toBe(false)
    expect(listeners(signal)).toBe(0)
    await expect.poll(() => server.connections()).toBe(0)
  })

  it('behind the end changes nothing', async () => {
    const { ask } = await stage({ kind, entries: [says(reply)] })
    const cancel = new AbortController()
    const { finish } = await ask({ signal: cancel.signal })
    cancel.abort()
    expect(finish.kind).toBe('tool-calls')
  })

  it('after the silence was too long stays a timeout', async () => {
    const { ask } = await stage({ kind, entries: ['hang'], config: { idleTimeoutMs: 40 } })
    const cancel = new AbortController()
    const { failure } = await ask({ signal: cancel.signal })
    cancel.abort()
    expect(failure.code).toBe('TIMEOUT')
  })

  it.each([
    ['a whole answer', says(reply)],
    ['an error', answers(500, 'no')],
    ['a cut stream', says(reply, { cutAfter: 3 })],
    ['a broken connection', says(reply, { cutAfter: 3, end: 'break' })],
  ] satisfies [string, ServerEntry][])('leaves no listener after %s either', async (_what, entry) => {
    const { ask } = await stage({ kind, entries: [entry] })
    const { signal } = new AbortController()
    await ask({ signal })
    expect(listeners(signal)).toBe(0)
  })

  it('and connections are kept for the next request', async () => {
    const { ask, server } = await stage({ kind, entries: [says({ text: 'one' })] })
    for (let n = 0; n < 10; n++) await ask()
    // Two, because the next request may come before the one before has let go.
    expect(new Set(server.requests.map(({ connection }) => connection)).size).toBeLessThan(3)
  })
})
