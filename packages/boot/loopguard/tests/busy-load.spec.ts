import { expect, it } from 'vitest'
import { load } from './load.ts'

const SPIN = `export const apply = () => { const end = performance.now() + 4; while (performance.now() < end); globalThis.startedRows.push('spin') }`
const TIMER = `export const apply = () => { setTimeout(() => globalThis.startedRows.push('timer'), 1) }`
const spinning = (rows: number): string => '- name: ./spin.mjs\n'.repeat(rows)

it('timers run while many rows start that wait for nothing, and so do signals', async () => {
  const { faults, started } = await load({
    'cordis.yml': `- name: ./timer.mjs\n${spinning(50)}`,
    'spin.mjs': SPIN,
    'timer.mjs': TIMER,
  })
  expect(faults).toEqual([])
  expect(started.indexOf('timer')).toBeLessThan(started.lastIndexOf('spin'))
})

it('the limit holds for many rows that wait for nothing; those that had no turn are told in few lines, and are not started later', async () => {
  const { faults, started } = await load({ 'cordis.yml': spinning(300), 'spin.mjs': SPIN }, 200)
  const [, told = ''] = /^ {2}(\d+) more rows did not start: their turn had not come$/.exec(faults.at(-1) ?? '') ?? []
  expect(faults.length).toBeLessThanOrEqual(11)
  expect(started).toHaveLength(300 - (faults.length - 1) - Number(told))
})
