import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

it('10,000 children in a row: the heap after them is within 5 MB of that after 1,000, and none is left', async () => {
  const sources = process.env['LOOPGUARD_TEST_MODE'] === 'lib' ? [] : ['--conditions=@loopguard/source']
  const program = fileURLToPath(new URL('programs/heap.ts', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', ...sources, '--import', 'tsx', program])
  const { at1000, at10000, left, asked } = JSON.parse(stdout) as { at1000: number; at10000: number; left: object; asked: number }
  expect([asked, left]).toEqual([10_000, { agents: 1, sessions: 1, children: 0, effects: 0 }])
  expect(at10000 - at1000).toBeLessThan(5_000_000)
}, 600_000)
