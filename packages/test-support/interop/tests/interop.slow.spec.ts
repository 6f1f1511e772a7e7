import { readFileSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { behaviours } from '../src/behaviours/index.ts'
import { type Finding, matrix } from '../src/matrix.ts'
import { expectation, type Pairing, pairings } from '../src/pairings.ts'
import type { Behaviour } from '../src/stage.ts'

interface Cell {
  readonly title: string
  readonly pairing: Pairing
  readonly behaviour: Behaviour
}

const columns = await pairings()
const found = new Map(columns.map((pairing) => [pairing, new Map<string, Finding>()]))
const cells = columns.flatMap((pairing) =>
  behaviours.map((behaviour) => {
    const title = `${pairing.subject.title} on ${pairing.host.title}: ${behaviour.says}`
    return { title, pairing, behaviour, expected: expectation(pairing, behaviour.id) }
  }),
)

async function run({ behaviour, pairing: { subject, host } }: Cell): Promise<void> {
  const mounted = await host.mount()
  try {
    await behaviour.run({ host: mounted, subject })
  } finally {
    await mounted.dispose()
  }
}

function note({ behaviour, pairing }: Cell, finding: Finding): void {
  found.get(pairing)?.set(behaviour.id, finding)
}

for (const cell of cells) if (cell.expected.kind === 'lacks') note(cell, { mark: 'n/a', why: cell.expected.why })

const held = cells.filter(({ expected }) => expected.kind === 'holds')
const differing = cells.flatMap((cell) => (cell.expected.kind === 'differs' ? [{ cell, why: cell.expected.why }] : []))

it.each(held.map((cell) => [cell.title, cell] as const))('%s', async (_title, cell) => {
  await expect(run(cell)).resolves.toBeUndefined()
  note(cell, { mark: 'yes' })
})

// A difference that has gone must leave the table.
it.each(differing.map((one) => [one.cell.title, one] as const))('not so: %s', async (_title, { cell, why }) => {
  await expect(run(cell)).rejects.toThrow(Error)
  note(cell, { mark: 'no', why })
})

it('docs/interop.md is what this run found; UPDATE=1 writes it anew', () => {
  const page = new URL('../../../../docs/interop.md', import.meta.url)
  const committed = readFileSync(page, 'utf8')
  const mark = '<!-- What follows is written by the test run: UPDATE=1 npx vitest run packages/test-support/interop -->\n'
  expect(committed).toContain(mark)
  const now = `${committed.slice(0, committed.indexOf(mark) + mark.length)}\n${matrix(behaviours, found)}`
  if (process.env['UPDATE'] === '1') writeFileSync(page, now)
  expect(readFileSync(page, 'utf8')).toBe(now)
})
