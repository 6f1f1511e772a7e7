import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { behaviours } from '../src/behaviours/index.ts'
import { type Finding, matrix } from '../src/matrix.ts'
import { expectation, type Pairing, pairings } from '../src/pairings.ts'
import type { Behaviour } from '../src/stage.ts'

const found = new Map<Pairing, Map<string, Finding>>()

async function run(behaviour: Behaviour, { subject, host }: Pairing): Promise<void> {
  const mounted = await host.mount()
  try {
    await behaviour.run({ host: mounted, subject })
  } finally {
    await mounted.dispose()
  }
}

for (const pairing of await pairings()) {
  const findings = new Map<string, Finding>()
  found.set(pairing, findings)
  describe(`${pairing.subject.title} on ${pairing.host.title}`, () => {
    for (const behaviour of behaviours) {
      const expected = expectation(pairing, behaviour.id)
      if (expected.kind === 'lacks') {
        findings.set(behaviour.id, { mark: 'n/a', why: `${pairing.host.title}: ${expected.why}.` })
      } else if (expected.kind === 'holds') {
        it(behaviour.says, async () => {
          await run(behaviour, pairing)
          findings.set(behaviour.id, { mark: 'yes' })
        })
      } else {
        // A difference that has gone must leave the table.
        it(`does not hold: ${behaviour.says}`, async () => {
          await expect(run(behaviour, pairing)).rejects.toThrow()
          const whose = pairing.host.differs[behaviour.id] === undefined ? pairing.subject.title : pairing.host.title
          findings.set(behaviour.id, { mark: 'no', why: `${whose}: ${expected.why}.` })
        })
      }
    }
  })
}

const page = new URL('../../../../docs/interop.md', import.meta.url)
const mark = '<!-- The rest of this page is written by the test run: UPDATE=1 npx vitest run packages/test-support/interop -->\n'

it('docs/interop.md is what this run found', () => {
  const committed = readFileSync(page, 'utf8')
  const head = committed.slice(0, committed.indexOf(mark) + mark.length)
  const now = `${head}\n${matrix(behaviours, found)}`
  if (process.env['UPDATE'] === '1') writeFileSync(page, now)
  else expect(committed, 'write it anew with UPDATE=1, and look at what changed').toBe(now)
})
