import assert from 'node:assert/strict'
import { codeOf } from '@loopguard/kit'
import { createUserMessage, SessionId, text } from '@loopguard/llm'
import { type EventSink, SESSION_VERSION, type SessionBackend, type SessionEvent } from '@loopguard/session'

/** One thing that every `SessionBackend` promises. `run` throws when this one does not hold it. */
export interface BackendPromise {
  readonly name: string
  /** Makes an empty store and tries it. */
  readonly run: (make: () => SessionBackend | Promise<SessionBackend>) => Promise<void>
}

/** The suite that every backend must pass. Each entry is a test of its own; any test runner will do. */
export const backendContract: readonly BackendPromise[] = [
  promise('what was flushed comes back to the letter, in order', async (backend) => {
    const events = [start('a'), ...ODD.map((data, index) => eventOf(index + 1, 'x/odd', data))]
    const sink = backend.create(SessionId('a'))
    for (const event of events) sink.write(sink.encode(event))
    await release(sink)
    const { events: loaded, log } = await backend.load(SessionId('a'))
    assert.deepEqual(loaded, events)
    assert.deepEqual(Object.keys((loaded[2]?.data as object) ?? {}), ['__proto__'])
    await release(log)
  }),
  promise('a log goes on where it was left, also when flushes and writes take turns', async (backend) => {
    let sink = backend.create(SessionId('a'))
    let seq = 0
    sink.write(sink.encode(start('a')))
    for (let life = 0; life < 3; life++) {
      for (let round = 0; round < 20; round++) {
        sink.write(sink.encode(eventOf(++seq, 'x/n', seq)))
        const flushed = sink.flush?.()
        sink.write(sink.encode(eventOf(++seq, 'x/n', seq)))
        await flushed
      }
      await release(sink)
      const { events, log } = await backend.load(SessionId('a'))
      assert.deepEqual(
        events.map((event) => event.seq),
        Array.from({ length: seq + 1 }, (_, index) => index),
      )
      sink = log
    }
    await release(sink)
  }),
  promise('a flush with nothing to do settles, and overlapping ones settle all', async (backend) => {
    const sink = backend.create(SessionId('a'))
    sink.write(sink.encode(start('a')))
    await Promise.all([sink.flush?.(), sink.flush?.(), sink.flush?.()])
    await sink.flush?.()
    await release(sink)
  }),
  promise('a taken id is SESSION_EXISTS, at once or with the first flush', async (backend) => {
    await keep(backend, 'a')
    assert.equal(await refusalOf(async () => void (await begun(backend, 'a'))), 'SESSION_EXISTS')
    assert.equal((await backend.read(SessionId('a'))).length, 1)
  }),
  promise('one holder: a log that is open is SESSION_OPEN, and free once it was released', async (backend) => {
    const sink = await begun(backend, 'a')
    assert.equal(await refusalOf(() => backend.load(SessionId('a'))), 'SESSION_OPEN')
    await release(sink)
    const { log } = await backend.load(SessionId('a'))
    assert.equal(await refusalOf(() => backend.load(SessionId('a'))), 'SESSION_OPEN')
    await release(log)
  }),
  promise('a log that was never written to is no session: its id stays free', async (backend) => {
    await release(backend.create(SessionId('a')))
    assert.equal(await refusalOf(() => backend.load(SessionId('a'))), 'SESSION_NOT_FOUND')
    assert.deepEqual(await backend.stored(), [])
    await keep(backend, 'a')
  }),
  promise('an unknown id is SESSION_NOT_FOUND', async (backend) => {
    assert.equal(await refusalOf(() => backend.load(SessionId('none'))), 'SESSION_NOT_FOUND')
    assert.equal(await refusalOf(() => backend.read(SessionId('none'))), 'SESSION_NOT_FOUND')
  }),
  promise('a log can be read while it is held, and reading takes nothing over', async (backend) => {
    const sink = await begun(backend, 'a')
    assert.deepEqual((await backend.read(SessionId('a'))).length, 1)
    sink.write(sink.encode(eventOf(1, 'x/n', 1)))
    await sink.flush?.()
    assert.deepEqual((await backend.read(SessionId('a'))).length, 2)
    await release(sink)
  }),
  promise('what is stored is listed, the latest first', async (backend) => {
    await keep(backend, 'a')
    await keep(backend, 'b')
    const { log } = await backend.load(SessionId('a'))
    await new Promise((resolve) => setTimeout(resolve, 20))
    const message = createUserMessage({ content: [text('hello')], source: { kind: 'user' } })
    log.write(log.encode(eventOf(1, 'user/message', message)))
    await release(log)
    const stored = await backend.stored()
    assert.deepEqual(
      stored.map(({ id }) => id),
      ['a', 'b'],
    )
    for (const { updatedAt } of stored) assert.ok(Number.isFinite(updatedAt) && updatedAt > 0)
  }),
]

/** What JSON can hold, and stores have lost: NUL, lone surrogates, an own `__proto__`, an empty key, depth, large numbers. */
const ODD: readonly unknown[] = [
  'nul \0, lone \ud83d, line\u2028separator\n',
  JSON.parse('{"__proto__":{"a":1}}'),
  { '': 0, 'a b': [[[[]]], {}] },
  [1e308, 5e-324, 0, 2 ** 53],
  null,
]

function promise(name: string, check: (backend: SessionBackend) => Promise<void>): BackendPromise {
  return { name, run: async (make) => check(await make()) }
}

function eventOf(seq: number, type: string, data: unknown): SessionEvent {
  return { seq, time: 1_700_000_000_000 + seq, type, data } as unknown as SessionEvent
}

const start = (id: string): SessionEvent => eventOf(0, 'session/start', { version: SESSION_VERSION, id })

/** A log with its first event, durable. */
async function begun(backend: SessionBackend, id: string): Promise<EventSink> {
  const sink = backend.create(SessionId(id))
  try {
    sink.write(sink.encode(start(id)))
    await sink.flush?.()
    return sink
  } catch (refused) {
    await release(sink).catch(() => {})
    throw refused
  }
}

const keep = async (backend: SessionBackend, id: string): Promise<void> => release(await begun(backend, id))

async function release(sink: EventSink): Promise<void> {
  sink.close()
  await sink.released
}

async function refusalOf(work: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await work()
    return undefined
  } catch (thrown) {
    return codeOf(thrown) ?? String(thrown)
  }
}
