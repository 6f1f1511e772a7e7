import type * as fs from 'node:fs'
import { readdirSync } from 'node:fs'
import { expect, it, vi } from 'vitest'
import { codeOfRejection, codeThrownBy, hostWith, linesOf, storeIn, storyOf, tempDir } from './support.ts'

type Done = (cause: Error | null) => void

// The disk: it is asked, and answers when the test says so.
const disk = vi.hoisted(() => ({ asked: [] as Done[], holds: false }))
vi.mock('node:fs', async (original) => {
  const real = await original<typeof fs>()
  const fdatasync = (fd: number, done: Done): void => {
    if (disk.holds) disk.asked.push(done)
    else real.fdatasync(fd, done)
  }
  return { ...real, default: { ...real, fdatasync }, fdatasync }
})

/** The disk answers nothing until `answer` is called, once for each call of the system that is running. */
function holdDisk(): { answer(cause?: Error): void; waiting(): number } {
  disk.holds = true
  disk.asked.length = 0
  return {
    answer: (cause) => {
      for (const done of disk.asked.splice(0)) done(cause ?? null)
    },
    waiting: () => disk.asked.length,
  }
}

async function durableStore() {
  disk.holds = false
  const directory = tempDir()
  const ctx = await hostWith({ directory, durable: true })
  return { directory, ctx, store: ctx.sessions }
}

/** Lets everything go on that need not wait for the disk. */
const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
}

async function isSettled(promise: Promise<unknown> | undefined): Promise<boolean> {
  let settled = false
  void promise?.then(
    () => (settled = true),
    () => (settled = true),
  )
  await settle()
  return settled
}

it('without `durable` a barrier is nothing to wait for', async () => {
  expect((await storeIn()).create('a').flush()).toBeUndefined()
  expect((await storeIn(tempDir())).create('a').flush()).toBeUndefined()
})

it('`durable` without a directory is refused', async () => {
  await expect(hostWith({ durable: true })).rejects.toThrow('`durable` needs a `directory`')
})

it('a barrier settles once the disk has what was committed, and not before', async () => {
  const { store } = await durableStore()
  const session = store.create('a')
  await session.flush()
  const held = holdDisk()
  session.append('test/note', 1)
  const barrier = session.flush()
  expect(await isSettled(barrier)).toBe(false)
  held.answer()
  await barrier
  expect(await isSettled(session.flush())).toBe(true)
  expect(held.waiting()).toBe(0)
})

it('barriers that wait for the next call of the system share it, and it covers what was committed meanwhile', async () => {
  const { store } = await durableStore()
  const session = store.create('a')
  await session.flush()
  const held = holdDisk()
  session.append('test/note', 1)
  const first = session.flush()
  session.append('test/note', 2)
  const second = session.flush()
  session.append('test/note', 3)
  const third = session.flush()
  await settle()
  expect(held.waiting()).toBe(1)
  held.answer()
  await first
  expect([await isSettled(second), await isSettled(third), held.waiting()]).toEqual([false, false, 1])
  held.answer()
  await Promise.all([second, third])
  expect(held.waiting()).toBe(0)
})

it('of many sessions two wait for the disk at once, and all get their turn', async () => {
  const { store } = await durableStore()
  const sessions = Array.from({ length: 7 }, (_, index) => store.create(`s${index}`))
  await Promise.all(sessions.map(async (session) => session.flush()))
  const held = holdDisk()
  const barriers = sessions.map((session) => (session.append('test/note', 1), session.flush()))
  const seen: number[] = []
  for (let round = 0; round < 4; round++) {
    await settle()
    seen.push(held.waiting())
    held.answer()
  }
  await Promise.all(barriers.map(async (barrier) => barrier))
  expect(seen).toEqual([2, 2, 2, 1])
})

it('a disk that fails breaks the session for good: no later call of the system may seem to succeed', async () => {
  const { directory, store } = await durableStore()
  const session = store.create('a')
  await session.flush()
  const held = holdDisk()
  session.append('test/note', 1)
  const [first, second] = [session.flush(), (session.append('test/note', 2), session.flush())]
  await settle()
  held.answer(Object.assign(new Error('EIO: i/o error'), { code: 'EIO' }))
  expect([await codeOfRejection(first!), await codeOfRejection(second!)]).toEqual(['SESSION_WRITE_FAILED', 'SESSION_WRITE_FAILED'])
  disk.holds = false
  expect(await codeOfRejection(session.flush()!)).toBe('SESSION_WRITE_FAILED')
  expect(codeThrownBy(() => session.append('test/note', 3))).toBe('SESSION_WRITE_FAILED')
  session.close()
  expect([store.get('a'), readdirSync(directory)]).toEqual([undefined, ['a.jsonl']])
})

it('closing makes durable what is not, and holds the id and the lock until then', async () => {
  const { directory, store } = await durableStore()
  const session = store.create('a')
  const held = holdDisk()
  session.append('test/note', 'last words')
  session.close()
  expect([session.closed, store.get('a'), await isSettled(session.released)]).toEqual([true, session, false])
  expect(await codeOfRejection(store.load('a'))).toBe('SESSION_OPEN')
  expect(readdirSync(directory).toSorted()).toEqual(['a.jsonl', 'a.lock'])
  held.answer()
  await session.released
  disk.holds = false
  expect([store.get('a'), readdirSync(directory)]).toEqual([undefined, ['a.jsonl']])
  expect(storyOf(await store.load('a'))).toEqual([['test/note', 'last words']])
})

it('closing while a barrier waits uses no descriptor that is gone', async () => {
  const { store } = await durableStore()
  const session = store.create('a')
  const held = holdDisk()
  session.append('test/note', 1)
  const barrier = session.flush()
  session.close()
  expect(await isSettled(session.released)).toBe(false)
  held.answer()
  await barrier
  await session.released
  // One call of the system served both.
  expect([store.get('a'), held.waiting()]).toEqual([undefined, 0])
})

it('what is lost at the very end is told to who waits for the release, and everything is free all the same', async () => {
  const { directory, store } = await durableStore()
  const session = store.create('a')
  const held = holdDisk()
  session.close()
  await settle()
  held.answer(new Error('EIO'))
  expect(await codeOfRejection(session.released!)).toBe('SESSION_WRITE_FAILED')
  disk.holds = false
  expect([store.get('a'), readdirSync(directory)]).toEqual([undefined, ['a.jsonl']])
})

it('a session that is durable to its end is closed at once', async () => {
  const { store } = await durableStore()
  const session = store.create('a')
  await session.flush()
  session.close()
  expect([session.released, store.get('a')]).toEqual([undefined, undefined])
})

it('unloading the store waits until all is durable', async () => {
  const { ctx, directory, store } = await durableStore()
  store.create('a').append('test/note', 1)
  const held = holdDisk()
  const gone = ctx.fiber.dispose()
  expect(await isSettled(gone)).toBe(false)
  held.answer()
  await gone
  expect([linesOf(directory, 'a').length, readdirSync(directory)]).toEqual([2, ['a.jsonl']])
})

it('a load is done once its repair is durable', async () => {
  const { directory, store } = await durableStore()
  const session = store.create('a')
  session.append('turn/start', { turn: 1 })
  session.close()
  await session.released
  const held = holdDisk()
  const loading = store.load('a')
  await vi.waitFor(() => expect(held.waiting()).toBe(1))
  expect(await isSettled(loading)).toBe(false)
  held.answer()
  expect(storyOf(await loading).at(-1)).toEqual(['turn/end', { turn: 1, reason: { kind: 'interrupted' } }])
  expect(linesOf(directory, 'a')).toHaveLength(3)
  disk.holds = false
})

it('a load whose repair cannot be made durable fails, and the log is free again', async () => {
  const { directory, store } = await durableStore()
  const session = store.create('a')
  session.append('turn/start', { turn: 1 })
  session.close()
  await session.released
  const held = holdDisk()
  const loading = codeOfRejection(store.load('a'))
  await vi.waitFor(() => expect(held.waiting()).toBe(1))
  held.answer(new Error('EIO'))
  expect(await loading).toBe('SESSION_WRITE_FAILED')
  disk.holds = false
  expect([store.get('a'), readdirSync(directory)]).toEqual([undefined, ['a.jsonl']])
  expect((await store.load('a')).closed).toBe(false)
})
