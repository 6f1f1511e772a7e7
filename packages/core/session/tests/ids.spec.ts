import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { SessionId } from '@loopguard/llm'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { codeOfRejection, codeThrownBy, outcomeOf, storeIn, tempDir, thrownBy, typesOf } from './support.ts'

const bad: [string, unknown, string][] = [
  ['empty text', '', 'is blank'],
  ['white space', ' \t', 'is blank'],
  ['a parent folder', '..', 'starts with a dot'],
  ['a way out', '../a', 'holds a path separator'],
  ['a subfolder', 'a/b', 'holds a path separator'],
  ['a Windows path', 'a\\b', 'holds a path separator'],
  ['an absolute path', '/etc/passwd', 'holds a path separator'],
  ['NUL', 'a\0b', 'holds a control character'],
  ['a line break', 'a\nb', 'holds a control character'],
  ['a C1 control', 'a\u0085b', 'holds a control character'],
  ['a hidden file', '.hidden', 'starts with a dot'],
  ['white space after it', 'a ', 'has white space around it'],
  ['white space before it', ' a', 'has white space around it'],
  ['a dot at the end', 'a.', 'ends with a dot'],
  ['a lone surrogate', 'a\ud83d', 'is not well-formed Unicode'],
  ['a device', 'CON', 'is the name of a device on Windows'],
  ['a device with an ending', 'nul.txt', 'is the name of a device on Windows'],
  ['a port', 'com1', 'is the name of a device on Windows'],
  ['a port with a small digit', 'Com¹', 'is the name of a device on Windows'],
  ['a printer', 'LPT9.log', 'is the name of a device on Windows'],
  ['a console', 'conin$', 'is the name of a device on Windows'],
  ['201 bytes', 'é'.repeat(100) + 'a', 'is 201 bytes long, more than 200'],
  ['a number', 7, 'must be text'],
  ['null', null, 'must be text'],
]

it.each(bad)('refuses %s, with a directory and without', async (_what, id, why) => {
  const directory = tempDir()
  for (const store of [await storeIn(), await storeIn(directory)]) {
    const error = thrownBy(() => store.create(id as string))
    expect([error.code, error.message]).toEqual(['BAD_SESSION_ID', expect.stringContaining(`: it ${why}`)])
    expect(await codeOfRejection(store.load(id as string))).toBe('BAD_SESSION_ID')
  }
  expect(readdirSync(directory)).toEqual([])
})

it('refuses a parent that is no session id', async () => {
  const store = await storeIn()
  expect(codeThrownBy(() => store.create('a', { parent: SessionId('../b') }))).toBe('BAD_SESSION_ID')
  expect(store.list()).toEqual([])
})

it.each([
  ['a'],
  ['A.b_c-d'],
  ['a b'],
  ['agent:1'],
  ['émile'],
  ['日本'],
  ['🦊'],
  ['__proto__'],
  ['constructor'],
  ['console'],
  ['a..b'],
  ['x'.repeat(200)],
])('takes %s, and finds its file again', async (id) => {
  const directory = tempDir()
  const store = await storeIn(directory)
  const session = store.create(id)
  expect(existsSync(join(directory, `${id}.jsonl`))).toBe(true)
  session.close()
  expect(readdirSync(directory)).toEqual([`${id}.jsonl`])
  expect(typesOf(await store.load(id))).toEqual(['session/start'])
})

it('a message shows a long id cut', async () => {
  const store = await storeIn()
  expect(thrownBy(() => store.create('x'.repeat(5_000))).message).toBe(
    `bad session id "${'x'.repeat(100)}…": it is 5000 bytes long, more than 200`,
  )
})

it('whatever the id, nothing is written outside the directory', async () => {
  const outside = tempDir()
  const directory = join(outside, 'sessions')
  const store = await storeIn(directory)
  const pieces = fc.constantFrom('a', '.', '..', '/', '\\', '\0', ' ', 'CON', '~', '%2e', ':', '日', '\n')
  const ids = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 30 }),
    fc.array(pieces, { maxLength: 6 }).map((list) => list.join('')),
  )
  fc.assert(
    fc.property(ids, (id) => {
      const code = outcomeOf(() => store.create(id).close())
      expect(['none', 'BAD_SESSION_ID', 'SESSION_EXISTS']).toContain(code ?? 'none')
      expect(readdirSync(outside)).toEqual(['sessions'])
      expect(readdirSync(directory).filter((file) => !file.endsWith('.jsonl'))).toEqual([])
    }),
    { numRuns: 300 },
  )
})
