import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { expect, it, onTestFinished, vi } from 'vitest'
import { codeThrownBy, linesOf, storeIn, storyOf, tempDir, thrownBy } from './support.ts'

/** JSON of any shape: own `__proto__` keys, lone surrogates, extreme numbers. */
const anyJson = fc.jsonValue({ stringUnit: 'binary', maxDepth: 6 })
// No key is a lone backslash: after such a one Node 24 and 26 misread keys that begin with an escape (nodejs/node#63785).
const keys = fc.oneof(
  fc.constantFrom('__proto__', 'constructor', 'toString', '', 'a b', '\ud83d'),
  fc.string().filter((key) => key !== '\\'),
)
const anyData = fc.oneof(anyJson, fc.dictionary(keys, anyJson, { noNullPrototype: true }))

it('any JSON data comes back from the file as it went in', async () => {
  const directory = tempDir()
  const store = await storeIn(directory)
  let number = 0
  await fc.assert(
    fc.asyncProperty(fc.array(anyData, { minLength: 1, maxLength: 8 }), async (list) => {
      const id = `s${number++}`
      const session = store.create(id)
      for (const data of list) session.append('test/note', data)
      session.close()
      const loaded = await store.load(id)
      loaded.close()
      expect(isDeepStrictEqual(loaded.events, session.events)).toBe(true)
      // `-0` is `0` in JSON, in the log and in its file alike.
      expect(storyOf(loaded).map(([, data]) => JSON.stringify(data))).toEqual(list.map((data) => JSON.stringify(data)))
    }),
    { numRuns: 200 },
  )
}, 60_000)

it('an own __proto__ is a key like any other', async () => {
  const store = await storeIn(tempDir())
  const session = store.create('a')
  session.append('test/note', JSON.parse('{"__proto__":{"a":1}}'))
  session.close()
  const loaded = await store.load('a')
  expect(JSON.stringify(loaded.events[1]?.data)).toBe('{"__proto__":{"a":1}}')
})

function nested(depth: number): unknown {
  let value: unknown = 'inside'
  for (let level = 0; level < depth; level++) value = { a: value }
  return value
}

it('data that is too deep for a line is refused before the commit, and the session goes on', async () => {
  const directory = tempDir()
  const session = (await storeIn(directory)).create('a')
  const error = thrownBy(() => session.append('test/note', nested(1_001)))
  expect([error.code, error.message]).toEqual([
    'SESSION_EVENT_TOO_DEEP',
    '"test/note": the data nests deeper than 1000 levels, which is too deep for a line of the log',
  ])
  session.append('test/note', 'after')
  expect(storyOf(session)).toEqual([['test/note', 'after']])
  expect(linesOf(directory, 'a')).toHaveLength(2)
}, 60_000)

it('100,000 levels, which not every engine can write, are too deep as well', async () => {
  const session = (await storeIn(tempDir())).create('a')
  expect(codeThrownBy(() => session.append('test/note', nested(100_000)))).toBe('SESSION_EVENT_TOO_DEEP')
}, 60_000)

it('what is just not too deep is written, and read back, beside as much else as there is', async () => {
  const store = await storeIn(tempDir())
  const session = store.create('a')
  const data = [nested(999), 'x'.repeat(10_000), nested(999)]
  session.append('test/note', data)
  session.close()
  const loaded = await store.load('a')
  expect(JSON.stringify(loaded.events[1]?.data)).toBe(JSON.stringify(data))
}, 60_000)

it('a deeper line of an earlier version is still read', async () => {
  const directory = tempDir()
  const store = await storeIn(directory)
  const session = store.create('a')
  session.append('test/note', 'inside')
  session.close()
  const file = join(directory, 'a.jsonl')
  const deep = `${'{"a":'.repeat(5_000)}"inside"${'}'.repeat(5_000)}`
  writeFileSync(file, readFileSync(file, 'utf8').replace('"inside"', deep))
  expect((await store.load('a')).events).toHaveLength(2)
}, 60_000)

it('in memory no depth is too deep', async () => {
  const session = (await storeIn()).create('a')
  session.append('test/note', nested(100_000))
  expect(session.events).toHaveLength(2)
}, 60_000)

it('data that is too large for a line is refused before the commit, and the session goes on', async () => {
  const directory = tempDir()
  const session = (await storeIn(directory)).create('a')
  // Half a gigabyte would do it for real.
  const stringify = vi.spyOn(JSON, 'stringify').mockImplementationOnce(() => {
    throw new RangeError('Invalid string length')
  })
  onTestFinished(() => stringify.mockRestore())
  expect(codeThrownBy(() => session.append('test/note', 'much'))).toBe('SESSION_EVENT_TOO_LARGE')
  session.append('test/note', 'after')
  expect(linesOf(directory, 'a')).toHaveLength(2)
})
