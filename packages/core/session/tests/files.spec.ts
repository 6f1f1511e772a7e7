import { appendFileSync, existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { codeOfRejection, codeThrownBy, hostWith, linesOf, storeIn, storyOf, tempDir, thrownBy, typesOf, user } from './support.ts'

it('a file holds one event a line, in order, as JSON', async () => {
  const directory = tempDir()
  const session = (await storeIn(directory)).create('a')
  session.append('turn/start', { turn: 1 })
  session.append('user/message', user('two\nlines, "quotes" and 🦊'))
  session.append('test/note', { lone: '\ud83d', nul: '\0', separator: '\u2028' })
  expect(linesOf(directory, 'a').map((line) => JSON.parse(line) as unknown)).toEqual(session.events)
  expect(readFileSync(join(directory, 'a.jsonl'), 'utf8').endsWith('\n')).toBe(true)
})

it('an event is in the file before anybody hears of it, and before append returns', async () => {
  const directory = tempDir()
  const ctx = await hostWith({ directory })
  const onDisk: number[] = []
  ctx.on('session/event', (session) => void onDisk.push(linesOf(directory, session.id).length))
  const session = ctx.sessions.create('a')
  session.append('turn/start', { turn: 1 })
  expect(onDisk).toEqual([1, 2])
})

it('an event that is refused leaves no byte in the file', async () => {
  const directory = tempDir()
  const ctx = await hostWith({ directory })
  const session = ctx.sessions.create('a')
  const before = linesOf(directory, 'a')
  expect(() => session.append('test/note', { a: undefined })).toThrow('data.a')
  ctx.on('internal/dispatch', (_mode, name) => {
    if (name === 'session/event') throw new Error('vetoed')
  })
  expect(() => session.append('test/note', 1)).toThrow('vetoed')
  expect(linesOf(directory, 'a')).toEqual(before)
})

it('a session whose first event is refused leaves no file', async () => {
  const directory = tempDir()
  const ctx = await hostWith({ directory })
  ctx.on('internal/dispatch', (_mode, name) => {
    if (name === 'session/event') throw new Error('vetoed')
  })
  expect(() => ctx.sessions.create('a')).toThrow('vetoed')
  expect(readdirSync(directory)).toEqual([])
})

it('events that a listener appends stand in the file in the order of the log', async () => {
  const directory = tempDir()
  const ctx = await hostWith({ directory })
  ctx.on('session/event', (session, event) => {
    if (event.type === 'turn/start') session.append('step/start', { turn: 1, step: 1 })
  })
  const session = ctx.sessions.create('a')
  session.append('turn/start', { turn: 1 })
  session.append('test/note', 'after')
  expect(linesOf(directory, 'a').map((line) => (JSON.parse(line) as { type: string }).type)).toEqual(typesOf(session))
})

it('closing releases the lock and keeps the file: the id is taken for create and free for load', async () => {
  const directory = tempDir()
  const store = await storeIn(directory)
  const session = store.create('a')
  expect(readdirSync(directory).toSorted()).toEqual(['a.jsonl', 'a.lock'])
  session.append('test/note', 'kept')
  session.close()
  expect(readdirSync(directory)).toEqual(['a.jsonl'])
  expect(codeThrownBy(() => store.create('a'))).toBe('SESSION_EXISTS')
  const again = await store.load('a')
  expect(storyOf(again)).toEqual([['test/note', 'kept']])
  again.append('test/note', 'more')
  again.close()
  expect(storyOf(await store.load('a')).map(([, data]) => data)).toEqual(['kept', 'more'])
})

it('a session that another store of this process has open is SESSION_OPEN to load and SESSION_EXISTS to create', async () => {
  const directory = tempDir()
  const [one, two] = [await storeIn(directory), await storeIn(directory)]
  const session = one.create('a')
  const refused = thrownBy(() => two.create('a'))
  expect(refused).toMatchObject({ code: 'SESSION_EXISTS' })
  expect(await codeOfRejection(two.load('a'))).toBe('SESSION_OPEN')
  session.append('test/note', 1)
  expect(storyOf(session)).toEqual([['test/note', 1]])
  session.close()
  expect(storyOf(await two.load('a'))).toEqual([['test/note', 1]])
})

it('of several loads at once, one gets the session', async () => {
  const directory = tempDir()
  const store = await storeIn(directory)
  store.create('a').close()
  const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => store.load('a')))
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  const codes = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [(outcome.reason as { code: string }).code] : []))
  expect(new Set(codes)).toEqual(new Set(['SESSION_OPEN']))
})

it('unloading the store during a load leaves nothing open', async () => {
  const directory = tempDir()
  const ctx = await hostWith({ directory })
  const store = ctx.sessions
  store.create('a').close()
  const loading = codeOfRejection(store.load('a'))
  await ctx.fiber.dispose()
  expect(await loading).toBe('SESSION_STORE_CLOSED')
  expect([store.list(), readdirSync(directory)]).toEqual([[], ['a.jsonl']])
})

it.each([
  ['nothing', ''],
  ['the first byte', '{'],
  ['a piece of the first line', '{"seq":0,"time":17'],
  ['all of it but the line break', '{"seq":0,"time":1,"type":"session/start","data":{"version":1,"id":"a"}}'],
])('a process that was killed when the file held %s had no session yet: the id is free', async (_what, content) => {
  const directory = tempDir()
  writeFileSync(join(directory, 'a.jsonl'), content)
  const store = await storeIn(directory)
  expect(await codeOfRejection(store.load('a'))).toBe('SESSION_NOT_FOUND')
  const session = store.create('a')
  session.append('test/note', 1)
  session.close()
  expect(storyOf(await store.load('a'))).toEqual([['test/note', 1]])
})

it.each([
  ['text', 'my notes'],
  ['a line', '\n'],
  ['a large file', '{"seq":0,"time":'.padEnd(5_000, '1')],
])('%s that is no beginning of a log is never written over', async (_what, content) => {
  const directory = tempDir()
  writeFileSync(join(directory, 'a.jsonl'), content)
  const store = await storeIn(directory)
  expect(codeThrownBy(() => store.create('a'))).toBe('SESSION_EXISTS')
  expect(await codeOfRejection(store.load('a'))).toBe('BAD_LOG')
  expect(readFileSync(join(directory, 'a.jsonl'), 'utf8')).toBe(content)
  expect(readdirSync(directory)).toEqual(['a.jsonl'])
})

it('a link in the place of a log is not followed to make a file elsewhere', async () => {
  const [directory, elsewhere] = [tempDir(), tempDir()]
  symlinkSync(join(elsewhere, 'target'), join(directory, 'a.jsonl'))
  const store = await storeIn(directory)
  expect(codeThrownBy(() => store.create('a'))).toBe('SESSION_EXISTS')
  expect(existsSync(join(elsewhere, 'target'))).toBe(false)
  expect(await codeOfRejection(store.load('a'))).toBe('SESSION_READ_FAILED')
})

it('a session that nobody writes to any more can be read while it is open', async () => {
  const directory = tempDir()
  const session = (await storeIn(directory)).create('a')
  session.append('test/note', 1)
  appendFileSync(join(directory, 'b.jsonl'), readFileSync(join(directory, 'a.jsonl')))
  expect(linesOf(directory, 'b')).toHaveLength(2)
})

it('a session knows its file, and one in memory has none', async () => {
  const directory = tempDir()
  const stored = (await storeIn(directory)).create('a')
  expect(stored.location).toBe(join(directory, 'a.jsonl'))
  expect((await hostWith({})).sessions.create('a').location).toBeUndefined()
})
