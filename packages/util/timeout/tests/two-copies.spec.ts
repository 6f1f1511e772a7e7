import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import * as ours from '@loopguard/timeout'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const [folder, entry] = process.env['LOOPGUARD_TEST_MODE'] === 'lib' ? ['lib', 'index.js'] : ['src', 'index.ts']
let copy: string
let theirs: typeof ours

beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), 'timeout-copy-'))
  const source = fileURLToPath(new URL(`../${folder}`, import.meta.url))
  for (const file of (await readdir(source)).filter((name) => extname(name) === extname(entry))) {
    const code = await readFile(join(source, file), 'utf8')
    await writeFile(join(copy, file), code.replace(/^\/\/# sourceMappingURL=.*$/m, ''))
  }
  theirs = (await import(/* @vite-ignore */ pathToFileURL(join(copy, entry)).href)) as typeof ours
})
afterAll(() => rm(copy, { recursive: true }))

describe('two loaded copies of the package', () => {
  it('are two copies', () => {
    expect(theirs.TimeoutReason).not.toBe(ours.TimeoutReason)
    expect(new theirs.TimeoutReason('LATE', 50)).not.toBeInstanceOf(ours.TimeoutReason)
  })

  it('know the timeouts of one another', () => {
    const theirReason = new theirs.TimeoutReason('LATE', 50)
    const ourReason = new ours.TimeoutReason('LATE', 50)
    expect(ours.timeoutOf({ reason: theirReason }, 'LATE')).toBe(theirReason)
    expect(theirs.timeoutOf({ reason: ourReason }, 'LATE')).toBe(ourReason)
    expect(theirs.timeoutOf({ reason: ourReason }, 'OTHER')).toBeUndefined()
  })

  it('nest: a deadline of one copy under one of the other reads as cancelled', async () => {
    using outer = theirs.deadline(undefined, 10, 'LATE')
    using inner = ours.deadline(outer.signal, 60_000, 'LATE')
    await new Promise((resolve) => inner.signal.addEventListener('abort', resolve))
    expect(inner.signal.reason).toBe(outer.expiry)
    expect(inner.expiry).toBeUndefined()
    expect(ours.timeoutOf(inner.signal)?.timeoutMs).toBe(10)
  })
})
