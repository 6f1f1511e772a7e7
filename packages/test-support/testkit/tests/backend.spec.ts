import { codeOf, SessionId } from '@loopguard/llm'
import { backendContract, createHarness, FaultyBackend, type BackendFault } from '@loopguard/testkit'
import { describe, expect, it } from 'vitest'

describe('a faulty backend without faults holds what every backend promises', () => {
  it.each(backendContract)('$name', async ({ run }) => {
    await expect(run(() => new FaultyBackend())).resolves.toBeUndefined()
  })
})

/** A backend with one fault at the event `x/bad`, and a session in it. */
async function sessionWith(fault: BackendFault) {
  const backend = new FaultyBackend({ at: ({ type }) => ((type as string) === 'x/bad' ? fault : undefined) })
  const harness = await createHarness({ sessions: backend, invariants: false })
  const session = harness.ctx.sessions.create('a')
  const append = (type: string): unknown => session.append(type as 'turn/start', { turn: 1 })
  await session.flush()
  return { backend, harness, session, append }
}

const codeOfFlush = (flushed: Promise<void> | undefined): Promise<string | undefined> =>
  (flushed ?? Promise.resolve()).then(() => undefined, codeOf)

it('a write that fails is not committed, and the session takes no more', async () => {
  const { backend, session, append } = await sessionWith('fail-write')
  expect(() => append('x/bad')).toThrow('could not be written')
  expect(() => append('x/good')).toThrow('could not be written')
  expect(await codeOfFlush(session.flush())).toBe('SESSION_WRITE_FAILED')
  expect([session.events.length, (await backend.read(SessionId('a'))).length]).toEqual([1, 1])
})

it('a flush that fails always fails from then on, and no later event is accepted', async () => {
  const { backend, session, append } = await sessionWith('fail-flush')
  append('x/good')
  append('x/bad')
  append('x/good')
  const [first, second] = [session.flush(), session.flush()]
  expect([await codeOfFlush(first), await codeOfFlush(second), await codeOfFlush(session.flush())]).toEqual(
    Array.from({ length: 3 }, () => 'SESSION_WRITE_FAILED'),
  )
  expect(() => append('x/good')).toThrow('could not be written')
  expect((await backend.read(SessionId('a'))).map(({ type }) => type)).toEqual(['session/start', 'x/good'])
})

it('a flush that stalls goes on when the test says so', async () => {
  const { backend, session, append } = await sessionWith('stall')
  append('x/bad')
  let settled = false
  const flushed = session.flush()?.then(() => (settled = true))
  await new Promise((resolve) => setImmediate(resolve))
  expect(settled).toBe(false)
  backend.goOn()
  await flushed
  expect((await backend.read(SessionId('a'))).length).toBe(2)
})

it('a log that is taken over says so, takes no more, and belongs to the other', async () => {
  const { backend, session, append } = await sessionWith('take-over')
  append('x/good')
  await session.flush()
  append('x/unflushed')
  append('x/bad')
  expect([session.lost?.aborted, codeOf(session.lost?.reason), session.epoch]).toEqual([true, 'SESSION_LOST', 1])
  expect(await codeOfFlush(session.flush())).toBe('SESSION_LOST')
  expect(() => append('x/good')).toThrow('taken over')
  const { events, log } = await backend.load(SessionId('a'))
  expect([events.map(({ type }) => type), log.epoch]).toEqual([['session/start', 'x/good'], 2])
})

it('a power failure takes what was not flushed, and leaves the rest to be loaded', async () => {
  const { backend, session, append } = await sessionWith('stall')
  append('x/good')
  await session.flush()
  append('x/more')
  backend.powerFailure()
  expect(() => append('x/good')).toThrow('could not be written')
  const { events } = await backend.load(SessionId('a'))
  expect(events.map(({ type }) => type)).toEqual(['session/start', 'x/good'])
})
