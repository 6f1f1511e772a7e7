import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

it('a million failing calls, each another one, add less than 64 KiB to an agent; large errors are not kept, and nothing of an agent that is gone', async () => {
  const sources = process.env['LOOPGUARD_TEST_MODE'] === 'lib' ? [] : ['--conditions=@loopguard/source']
  const program = fileURLToPath(new URL('programs/memory.ts', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', ...sources, '--import', 'tsx', program])
  const { bytes, many, few, gone } = JSON.parse(stdout) as Record<'bytes' | 'many' | 'few' | 'gone', number>
  expect(bytes).toBeGreaterThan(0)
  expect(bytes).toBeLessThan(131_072)
  expect(many).toBeLessThan(65_536)
  expect(few).toBeLessThan(4_096)
  expect(gone).toBeLessThan(100)
}, 240_000)
