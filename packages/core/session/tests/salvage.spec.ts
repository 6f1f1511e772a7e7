import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SessionId } from '@loopguard/llm'
import { encodeLine, salvage, type SessionEvent } from '@loopguard/session'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { faultsIn } from './conversation.ts'
import { assistant, resultOf, storeIn, tempDir, typesOf, user, write, type Entry } from './support.ts'

const TURN: readonly Entry[] = [
  ['turn/start', { turn: 1 }],
  ['step/start', { turn: 1, step: 1 }],
  ['user/message', user('hi')],
  ['assistant/message', { turn: 1, step: 1, message: assistant('', ['c1', 'c2']) }],
  ['tool/call', { turn: 1, step: 1, callId: 'c1', name: 'read', arguments: '{}' }],
  ['tool/call', { turn: 1, step: 1, callId: 'c2', name: 'read', arguments: '{}' }],
  ['tool/result', { turn: 1, step: 1, message: resultOf('c1', 'one') }],
  ['tool/result', { turn: 1, step: 1, message: resultOf('c2', 'two') }],
  ['step/end', { turn: 1, step: 1 }],
  ['step/start', { turn: 1, step: 2 }],
  ['assistant/message', { turn: 1, step: 2, message: assistant('done') }],
  ['step/end', { turn: 1, step: 2 }],
  ['turn/end', { turn: 1, reason: { kind: 'completed' } }],
  ['test/note', { kept: true }],
]

/** The lines of a whole log. */
async function wholeLog(): Promise<string[]> {
  const directory = tempDir()
  const session = write((await storeIn(directory)).create('whole'), TURN)
  session.close()
  return readFileSync(join(directory, 'whole.jsonl'), 'utf8').split('\n').slice(0, -1)
}

const bytesOf = (lines: readonly string[], tail = '\n'): Uint8Array => Buffer.from(lines.join('\n') + tail)
const whats = (notes: readonly { line: number; what: string }[]): string[] => notes.map(({ line, what }) => `${line} ${what}`)

/** What a load makes of it. */
async function loaded(events: readonly SessionEvent[], id: string) {
  const directory = tempDir()
  writeFileSync(join(directory, `${id}.jsonl`), Buffer.concat(events.map((event) => encodeLine(event))))
  return (await storeIn(directory)).load(id)
}

it('a whole log comes out as it went in, under its new id', async () => {
  const { events, notes } = salvage(bytesOf(await wholeLog()), SessionId('new'))
  expect(notes).toEqual([])
  expect(typesOf({ events })).toEqual(['session/start', ...TURN.map(([type]) => type)])
  expect(events[0]?.data).toEqual({ version: 1, id: 'new' })
  expect((await loaded(events, 'new')).events.length).toBe(events.length)
})

it('garbage, an empty line, a block of NULs and a torn tail are dropped, each with its line', async () => {
  const lines = await wholeLog()
  lines.splice(3, 0, 'garbage', '', '\0'.repeat(512), '[1]', '{"seq":1}')
  lines.push('\0'.repeat(64) + lines.pop()!)
  const { events, notes } = salvage(bytesOf(lines, '\n{"seq":99,"to'), SessionId('new'))
  expect(whats(notes)).toEqual([
    expect.stringMatching(/^4 dropped: not JSON: /),
    '5 dropped: an empty line',
    '6 dropped: 512 NUL bytes',
    '7 dropped: not an event',
    '8 dropped: an event without a `time`',
    '20 dropped: 64 NUL bytes around the event',
    '21 dropped: a torn last line',
  ])
  expect(typesOf({ events })).toEqual(['session/start', ...TURN.map(([type]) => type)])
})

it('a result without its call is dropped, and a call without its result is answered', async () => {
  const lines = await wholeLog()
  // The message with the calls is gone; in the other, the second result.
  const first = salvage(bytesOf(lines.toSpliced(4, 1)), SessionId('new'))
  expect(whats(first.notes)).toEqual([
    '5 missing: event 4',
    '5 dropped: call "c1", whose message is lost',
    '6 dropped: call "c2", whose message is lost',
    '7 dropped: a result without its call "c1"',
    '8 dropped: a result without its call "c2"',
  ])
  const second = salvage(bytesOf(lines.toSpliced(8, 1)), SessionId('new'))
  expect(whats(second.notes)).toEqual(['9 missing: event 8', '9 added: a result for call "c2"'])
  for (const { events } of [first, second]) expect(faultsIn((await loaded(events, 'new')).events)).toEqual([])
})

it('a lost start of the log, of a turn or of a step is put back', async () => {
  const { events, notes } = salvage(bytesOf((await wholeLog()).slice(4)), SessionId('new'))
  expect(whats(notes)).toEqual(['1 missing: events 0 to 3', '1 added: session/start', '1 added: turn/start', '1 added: step/start'])
  expect(typesOf({ events }).slice(0, 4)).toEqual(['session/start', 'turn/start', 'step/start', 'assistant/message'])
})

it('lines that stand twice count once', async () => {
  const lines = await wholeLog()
  const { events, notes } = salvage(bytesOf([...lines.slice(0, 5), ...lines.slice(2)]), SessionId('new'))
  expect(whats(notes)).toEqual(['6 dropped: event 2 once more', '7 dropped: event 3 once more', '8 dropped: event 4 once more'])
  expect(events).toHaveLength(lines.length)
})

it('the parent of a session is kept', async () => {
  const directory = tempDir()
  ;(await storeIn(directory)).create('child', { parent: SessionId('mother') }).close()
  const { events } = salvage(readFileSync(join(directory, 'child.jsonl')), SessionId('new'))
  expect(events[0]?.data).toEqual({ version: 1, id: 'new', parent: 'mother' })
})

it('however a log is damaged, what comes out loads, nests, and answers every call', async () => {
  const lines = await wholeLog()
  const store = await storeIn()
  const damage = fc.oneof(
    fc.record({ kind: fc.constant('drop'), at: fc.nat(14), count: fc.integer({ min: 1, max: 4 }) }),
    fc.record({ kind: fc.constant('nuls'), at: fc.nat(14), count: fc.integer({ min: 1, max: 900 }) }),
    fc.record({ kind: fc.constant('garbage'), at: fc.nat(14), count: fc.nat(50) }),
    fc.record({ kind: fc.constant('repeat'), at: fc.nat(14), count: fc.integer({ min: 1, max: 5 }) }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(damage, { maxLength: 4 }), fc.nat(400), async (damages, cut) => {
      const damaged = [...lines]
      for (const { kind, at, count } of damages) {
        if (kind === 'drop') damaged.splice(at, count)
        else if (kind === 'nuls') damaged.splice(at, 1, '\0'.repeat(count) + (damaged[at] ?? '').slice(count))
        else if (kind === 'garbage') damaged.splice(at, 1, (damaged[at] ?? '').slice(count))
        else damaged.splice(at, 0, ...damaged.slice(at, at + count))
      }
      const bytes = bytesOf(damaged)
      const { events } = salvage(bytes.subarray(0, Math.max(0, bytes.length - cut)), SessionId('new'))
      if (events.length === 0) return
      await loaded(events, 'new')
      // The companion refuses what does not nest, and results and calls that do not pair.
      const copy = store.create()
      for (const { type, data } of events.slice(1)) copy.append(type, data as never)
      expect(copy.events).toHaveLength(events.length)
    }),
    { numRuns: 60 },
  )
})
