import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { codeOfRejection, codeThrownBy, storeIn, tempDir } from './support.ts'

// Some file systems know no hard links.
vi.mock('node:fs', async (original) => ({
  ...(await original<typeof import('node:fs')>()),
  linkSync: () => {
    throw Object.assign(new Error('EPERM: operation not permitted, link'), { code: 'EPERM' })
  },
}))

it('without hard links a session is locked, released and taken over all the same', async () => {
  const directory = tempDir()
  const [one, two] = [await storeIn(directory), await storeIn(directory)]
  const session = one.create('a')
  expect(readdirSync(directory).toSorted()).toEqual(['a.jsonl', 'a.lock'])
  expect(await codeOfRejection(two.load('a'))).toBe('SESSION_OPEN')
  session.close()
  expect(readdirSync(directory)).toEqual(['a.jsonl'])
  writeFileSync(join(directory, 'b.lock'), JSON.stringify({ pid: 2 ** 31 - 1, token: '89abcdef' }))
  const taken = two.create('b')
  expect(codeThrownBy(() => one.create('b'))).toBe('SESSION_EXISTS')
  taken.close()
  expect(readdirSync(directory).toSorted()).toEqual(['a.jsonl', 'b.jsonl'])
})
