import { expect, it } from 'vitest'
import { filesBelow, read } from './support/docs.ts'

/** What the tests of the companions trip, by package: `describe` names the relation, `it` the mutant. */
async function tested(): Promise<string[]> {
  const files = (await filesBelow('packages/', 'invariant.spec.ts')).filter((file) => file.endsWith('/tests/invariant.spec.ts'))
  const rows = await Promise.all(
    files.map(async (file) => {
      const [, name] = /\/([\w-]+)\/tests\//.exec(file) ?? []
      let relation = ''
      return (await read(file)).split('\n').flatMap((line) => {
        relation = /^describe\('(.+?)'/.exec(line)?.[1] ?? relation
        const mutant = /^ +it\('trips when (.+?)'/.exec(line)?.[1]
        return mutant === undefined ? [] : [`| ${name} | ${relation} | ${mutant} |`]
      })
    }),
  )
  return rows.flat()
}

it('the table of docs/invariants.md has a row for each mutant that the tests trip, and no other', async () => {
  const page = await read('docs/invariants.md')
  const shown = page.split('\n').filter((line) => /^\| [\w-]+ \|/.test(line) && !line.startsWith('| package |'))
  const wanted = await tested()
  expect(wanted.length).toBeGreaterThan(40)
  expect(wanted.filter((row) => row.includes('|  |'))).toEqual([])
  expect(new Set(shown)).toEqual(new Set(wanted))
})
