import { expect, it } from 'vitest'
import { Turns } from '../src/load/turns.ts'
import { load } from './load.ts'

const HANGS = 'await globalThis.gate; export const apply = () => {}'

/** Lets what is left over run. */
async function rounds(count: number): Promise<void> {
  for (let round = 0; round < count; round++) await new Promise((resolve) => setImmediate(resolve))
}

it('timers, and so signals, have their turn among many members that wait for nothing; lists keep their order', async () => {
  const turns = new Turns()
  const [first, second] = [turns.begin(), turns.begin()]
  const order: string[] = []
  setTimeout(() => order.push('timer'), 1)
  const spin = (): void => {
    const end = performance.now() + 4
    while (performance.now() < end);
    order.push('first')
  }
  const last = second.take(Promise.resolve()).then(() => order.push('second'))
  for (let member = 0; member < 20; member++) void first.take(Promise.resolve()).then(spin)
  first.close()
  second.close()
  await last
  expect(order.filter((entry) => entry !== 'timer')).toEqual([...Array<string>(20).fill('first'), 'second'])
  expect(order.indexOf('timer')).toBeLessThan(order.lastIndexOf('first'))
})

it('the limit holds for many rows that wait for nothing: the rest is counted, and not begun', async () => {
  const begun = new Set<number>()
  const slow = (row: number): boolean => {
    const end = performance.now() + (begun.has(row) ? 0 : 4)
    while (performance.now() < end);
    begun.add(row)
    return true
  }
  Object.assign(globalThis, { slow })
  const rows = Array.from({ length: 200 }, (_, row) => `- { name: ./a.mjs, disabled: !!js slow(${row}) }\n`)
  const { faults } = await load({ 'cordis.yml': rows.join('') }, 100)
  await rounds(200)
  expect(faults).toEqual([`  ${200 - begun.size} more rows did not start: their turn had not come`])
})

it('rows behind one that hangs are told in few lines, and are not started later', async () => {
  const { promise: gate, resolve: open } = Promise.withResolvers<void>()
  Object.assign(globalThis, { gate })
  const loaded = await load({ 'cordis.yml': `- name: ./hangs.mjs\n${'- name: ./a.mjs\n'.repeat(30)}`, 'hangs.mjs': HANGS }, 1000)
  open()
  // As many rounds as starting them all would take, and more.
  await rounds(100)
  expect(loaded.faults.map((line) => line.replace(/^ {2}\S+ row-\d+ /, ''))).toEqual([
    '(./hangs.mjs): still being imported after 1000 ms',
    ...Array<string>(10).fill('(./a.mjs): did not start: rows start in order, and one before it is not there yet'),
    '  20 more rows did not start: their turn had not come',
  ])
  expect({ started: loaded.started, logged: loaded.logged }).toEqual({ started: [], logged: '' })
})
