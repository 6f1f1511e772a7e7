import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it, vi } from 'vitest'
import { outcomeOf, storeIn, tempDir } from './support.ts'

// Only Linux tells of processes in files.
vi.mock('node:fs', async (original) => {
  const real = await original<typeof import('node:fs')>()
  const readFileSync = (...args: Parameters<typeof real.readFileSync>): unknown => {
    if (String(args[0]).startsWith('/proc/')) throw Object.assign(new Error('ENOENT: no such file'), { code: 'ENOENT' })
    return real.readFileSync(...args)
  }
  return { ...real, readFileSync }
})

afterEach(() => void vi.restoreAllMocks())

it.each([
  ['is there', undefined, 'SESSION_OPEN'],
  ['is there, and somebody else’s', 'EPERM', 'SESSION_OPEN'],
  ['has ended', 'ESRCH', undefined],
])('without /proc the holder of a lock is asked by a signal that does nothing: one that %s', async (_what, errno, code) => {
  const directory = tempDir()
  const store = await storeIn(directory)
  const asked: unknown[] = []
  vi.spyOn(process, 'kill').mockImplementation((...args) => {
    asked.push(args)
    if (errno !== undefined) throw Object.assign(new Error(errno), { code: errno })
    return true
  })
  writeFileSync(join(directory, 'a.lock'), JSON.stringify({ pid: 4_321, start: 'boot 1', token: '89abcdef' }))
  expect(outcomeOf(() => store.create('a'))).toBe(code)
  expect(asked[0]).toEqual([4_321, 0])
  expect(readdirSync(directory).toSorted()).toEqual(code === undefined ? ['a.jsonl', 'a.lock'] : ['a.lock'])
})
