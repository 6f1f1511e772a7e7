import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

it('an agent costs less than 1 KiB, whatever the size of its arguments, and nothing once it is gone', async () => {
  const sources = process.env['LOOPGUARD_TEST_MODE'] === 'lib' ? [] : ['--conditions=@loopguard/source']
  const program = fileURLToPath(new URL('programs/memory.ts', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', ...sources, '--import', 'tsx', program])
  const { alive, gone } = JSON.parse(stdout) as { alive: Record<string, number>; gone: number }
  expect(Object.values(alive).map((bytes) => bytes < 1_024)).toEqual([true, true])
  expect(gone).toBeLessThan(50)
}, 240_000)
