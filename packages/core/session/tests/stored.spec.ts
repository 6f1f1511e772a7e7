import { appendFileSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createUserMessage, text } from '@loopguard/llm'
import { expect, it } from 'vitest'
import { assistant, codeOfRejection, storeIn, tempDir, typesOf, user, write } from './support.ts'

const note = createUserMessage({ content: [text('from a plugin')], source: { kind: 'plugin', plugin: 'p' } })

it.each([
  ['memory', false],
  ['files', true],
])('in %s: what is kept, with what a person said first', async (_what, inFiles) => {
  const store = await storeIn(inFiles ? tempDir() : undefined)
  write(store.create('a'), [
    ['user/message', note],
    ['user/message', user('  find\n the   bug ')],
    ['user/message', user('later')],
  ])
  write(store.create('b'), [['test/note', 1]])
  const before = Date.now() + 1
  const stored = await store.stored()
  expect(stored.toSorted((x, y) => x.id.localeCompare(y.id)).map(({ id, title }) => [id, title])).toEqual([
    ['a', 'find the bug'],
    ['b', undefined],
  ])
  for (const { updatedAt } of stored) expect(updatedAt).toBeLessThanOrEqual(before)
})

it('a title is at most 80 code points, and never cuts a character', async () => {
  const store = await storeIn(tempDir())
  write(store.create('a'), [['user/message', user('😀'.repeat(100))]])
  expect((await store.stored())[0]?.title).toBe(`${'😀'.repeat(80)}…`)
})

it('the latest is first, open or closed, and what is no log is left out', async () => {
  const directory = tempDir()
  const store = await storeIn(directory)
  for (const id of ['old', 'new', 'middle']) store.create(id).close()
  const at = { old: 1_000, middle: 2_000, new: 3_000 }
  for (const [id, seconds] of Object.entries(at)) utimesSync(join(directory, `${id}.jsonl`), seconds, seconds)
  writeFileSync(join(directory, 'notes.txt'), 'x')
  writeFileSync(join(directory, 'empty.jsonl'), '')
  writeFileSync(join(directory, '.hidden.jsonl'), '{}\n')
  expect(await store.stored()).toEqual([
    { id: 'new', updatedAt: 3_000_000 },
    { id: 'middle', updatedAt: 2_000_000 },
    { id: 'old', updatedAt: 1_000_000 },
  ])
})

it('a damaged log is in the list, with the title as far as it can be read', async () => {
  const directory = tempDir()
  const store = await storeIn(directory)
  write(store.create('a'), [['user/message', user('hello')]]).close()
  appendFileSync(join(directory, 'a.jsonl'), '\0\0\0\n')
  writeFileSync(join(directory, 'b.jsonl'), 'garbage\n')
  mkdirSync(join(directory, 'c.jsonl'))
  const stored = await store.stored()
  expect(stored.map(({ id, title }) => [id, title]).toSorted(([x = ''], [y = '']) => x.localeCompare(y))).toEqual([
    ['a', 'hello'],
    ['b', undefined],
    ['c', undefined],
  ])
})

it('a session can be read while it is open, here or elsewhere, as it is: frozen, without lock and repair', async () => {
  const directory = tempDir()
  const store = await storeIn(directory)
  const other = await storeIn(directory)
  const session = write(store.create('a'), [
    ['turn/start', { turn: 1 }],
    ['step/start', { turn: 1, step: 1 }],
    ['assistant/message', { turn: 1, step: 1, message: assistant('hi', ['c1']) }],
  ])
  for (const reader of [store, other]) {
    const events = await reader.read('a')
    expect(typesOf({ events })).toEqual(['session/start', 'turn/start', 'step/start', 'assistant/message'])
    expect([Object.isFrozen(events), Object.isFrozen(events[3]?.data)]).toEqual([true, true])
  }
  appendFileSync(join(directory, 'a.jsonl'), '{"seq":4,"torn')
  expect(typesOf({ events: await other.read('a') })).toHaveLength(4)
  session.append('test/note', 1)
  expect(session.events).toHaveLength(5)
})

it('what cannot be read says why', async () => {
  const directory = tempDir()
  const store = await storeIn(directory)
  writeFileSync(join(directory, 'bad.jsonl'), 'garbage\n')
  writeFileSync(join(directory, 'empty.jsonl'), '')
  expect([
    await codeOfRejection(store.read('../a')),
    await codeOfRejection(store.read('none')),
    await codeOfRejection(store.read('empty')),
    await codeOfRejection(store.read('bad')),
    await codeOfRejection((await storeIn()).read('a')),
  ]).toEqual(['BAD_SESSION_ID', 'SESSION_NOT_FOUND', 'SESSION_NOT_FOUND', 'BAD_LOG', 'SESSION_NOT_FOUND'])
})
