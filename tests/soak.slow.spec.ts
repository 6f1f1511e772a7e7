import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { leftOver, type Residue } from '../bench/residue.mjs'

const program = fileURLToPath(new URL('../bench/soak.mjs', import.meta.url))
const source = process.env['LOOPGUARD_TEST_MODE'] === 'lib' ? [] : ['--conditions=@loopguard/source', '--import', 'tsx']

function soak(...args: string[]): Promise<{ code: unknown; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [...source, program, ...args], (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : error.code, stdout, stderr }),
    )
  })
}

it('a short soak leaves nothing over, and says what it did', async () => {
  const { code, stdout, stderr } = await soak('--calls', '20000', '--steps', '2000')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(/^ +start +middle +end$/m)
  for (const name of ['signalListeners', 'timers']) expect(stdout).toMatch(new RegExp(`^${name} +0 +0 +0$`, 'm'))
  expect(stdout).toContain('20,000 calls, 2,000 steps, 2 timeouts, 2 cancelled, 5,000 reminders since the start')
})

it('a count that is none is refused', async () => {
  const { code, stderr } = await soak('--calls', 'many')
  expect({ code, stderr }).toEqual({ code: 2, stderr: 'soak: --calls must be an integer >= 2, got "many"\n' })
})

const start: Residue = {
  heap: 1_000,
  rss: 1,
  signalListeners: 0,
  processListeners: 3,
  hooks: 5,
  agents: 1,
  sessions: 1,
  timers: 0,
  otherResources: 1,
}

it('what may come and go is no fault: the heap within the bound, memory of the system, and less than before', () => {
  expect(leftOver(start, { ...start, heap: 1_500, rss: 1e9, hooks: 4, otherResources: 0 }, 500)).toEqual([])
})

it.each([
  ['heap', 1_501, 'heap: grown by 501 bytes, at most 500 are allowed'],
  ['signalListeners', 1, 'signalListeners: 1, 0 at the start'],
  ['processListeners', 4, 'processListeners: 4, 3 at the start'],
  ['hooks', 6, 'hooks: 6, 5 at the start'],
  ['agents', 2, 'agents: 2, 1 at the start'],
  ['sessions', 2, 'sessions: 2, 1 at the start'],
  ['timers', 1, 'timers: 1, 0 at the start'],
  ['otherResources', 2, 'otherResources: 2, 1 at the start'],
] as const)('what is left over is named: %s', (name, value, said) => {
  expect(leftOver(start, { ...start, [name]: value }, 500)).toEqual([said])
})

it.each(['signalListeners', 'timers'] as const)('what the warm-up has left is named, too: %s', (name) => {
  expect(leftOver({ ...start, [name]: 1 }, { ...start, [name]: 1 }, 500)).toEqual([`${name}: 1, and none should be left`])
})
