import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

it('100,000 budgeted calls under one signal leave no heap, no listener, no timer and no warning', async () => {
  const sources = process.env['LOOPGUARD_TEST_MODE'] === 'lib' ? [] : ['--conditions=@loopguard/source']
  const program = fileURLToPath(new URL('programs/leave-nothing.ts', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', ...sources, '--import', 'tsx', program])
  const { heapPerCall, ...left } = JSON.parse(stdout) as { heapPerCall: number }
  expect(left).toEqual({ listenersAfter: 0, timersAfter: 0, warnings: [] })
  expect(heapPerCall).toBeLessThan(10)
}, 120_000)
