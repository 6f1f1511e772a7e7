import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { conversations, faultsIn } from './conversation.ts'
import { assistant, type Entry, hostWith, linesOf, resultOf, storeIn, tempDir, user, write } from './support.ts'

/** Writes a log of its own, and returns its bytes and how many of them each event ends at. */
async function logOf(entries: readonly Entry[]): Promise<{ bytes: Buffer; ends: number[]; events: readonly unknown[] }> {
  const directory = tempDir()
  const session = write((await storeIn(directory)).create('a'), entries)
  session.close()
  const bytes = readFileSync(join(directory, 'a.jsonl'))
  const ends = [...bytes.entries()].flatMap(([index, byte]) => (byte === 0x0a ? [index + 1] : []))
  return { bytes, ends, events: session.events }
}

it('a file that was cut at any byte loses no whole line, and loads as a valid log that goes on', async () => {
  const place = { turn: 1, step: 1 }
  const { bytes, ends, events } = await logOf([
    ['turn/start', { turn: 1 }],
    ['step/start', place],
    ['user/message', user('größer 🦊')],
    ['assistant/message', { ...place, message: assistant('é', ['c1', 'c2']) }],
    ['tool/call', { ...place, callId: 'c1', name: 'read', arguments: '{}' }],
    ['tool/call', { ...place, callId: 'c2', name: 'read', arguments: '{}' }],
    ['tool/result', { ...place, message: resultOf('c1', 'ok') }],
    ['tool/result', { ...place, message: resultOf('c2', 'ok') }],
    ['step/end', place],
    ['turn/end', { turn: 1, reason: { kind: 'completed' } }],
  ])
  const directory = tempDir()
  const store = await storeIn(directory)
  const first = ends[0] as number
  for (let cut = first; cut <= bytes.length; cut++) {
    writeFileSync(join(directory, 'a.jsonl'), bytes.subarray(0, cut))
    const session = await store.load('a')
    const committed = ends.filter((end) => end <= cut).length
    expect(session.events.slice(0, committed)).toEqual(events.slice(0, committed))
    expect(faultsIn(session.events)).toEqual([])
    session.append('test/note', 'on we go')
    session.close()
    expect(linesOf(directory, 'a').map((line) => JSON.parse(line) as unknown)).toEqual(session.events)
  }
}, 60_000)

it('any conversation that was cut at any byte is closed: it nests, every call is answered once, and a second load adds nothing', async () => {
  const directory = tempDir()
  const ctx = await hostWith({ directory })
  // The companion of the host judges each closing event with rules of its own.
  const store = ctx.sessions
  await fc.assert(
    fc.asyncProperty(conversations, fc.double({ min: 0, max: 1, noNaN: true }), async (entries, share) => {
      const { bytes, ends, events } = await logOf(entries)
      const first = ends[0] as number
      const cut = first + Math.round(share * (bytes.length - first))
      writeFileSync(join(directory, 'a.jsonl'), bytes.subarray(0, cut))
      const committed = ends.filter((end) => end <= cut).length
      const session = await store.load('a')
      session.close()
      expect(session.events.slice(0, committed)).toEqual(events.slice(0, committed))
      expect(faultsIn(session.events)).toEqual([])
      const started = new Set(session.events.flatMap((event) => (event.type === 'tool/call' ? [event.data.callId] : [])))
      for (const event of session.events.slice(committed)) {
        if (event.type !== 'tool/result') continue
        const isStarted = started.has(event.data.message.source.callId)
        expect(event.data.error?.code).toBe(isStarted ? 'TOOL_OUTCOME_UNKNOWN' : 'TOOL_NOT_STARTED')
      }
      const again = await store.load('a')
      again.close()
      expect(again.events).toEqual(session.events)
    }),
    { numRuns: 150 },
  )
  expect(ctx.get('invariants')?.violations).toEqual([])
}, 60_000)
