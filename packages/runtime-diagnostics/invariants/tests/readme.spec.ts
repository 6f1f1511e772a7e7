import { readFile } from 'node:fs/promises'
import { Config, InvariantError } from '@loopguard/invariants'
import { expect, it, vi } from 'vitest'
import { parse } from 'yaml'
import { compose } from './samples/compose.ts'

const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')
const blocks = (language: string): string[] =>
  [...readme.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(([, code]) => code!)

it('the samples do what the README says', async () => {
  const complain = vi.spyOn(console, 'error').mockImplementation(() => {})
  const ctx = await compose()
  ctx.counter.add()
  ctx.counter.add()
  expect(() => ctx.counter.add(2)).toThrow(new InvariantError('@acme/counter', 'went from 2 to 4, not by one'))
  ctx.counter.add()
  expect(complain.mock.calls).toEqual([
    ['@acme/counter broke its promise: invariant violated by "@acme/counter": went from 2 to 4, not by one'],
  ])
  expect(ctx.invariants.violations).toHaveLength(1)
  expect(ctx.invariants.unmatched()).toEqual(['package_blocklist: "^@acme/noisy-"'])
  await ctx.fiber.dispose()
  complain.mockRestore()
})

it('the rows of the README are rows, and their config is one', () => {
  const [rows] = blocks('yaml').map((yaml) => parse(yaml) as { name: string; config?: unknown }[])
  expect(rows?.map(({ name }) => name)).toEqual(['@loopguard/invariants', '@loopguard/invariants/invariant', '@loopguard/tools/invariant'])
  expect(Config['~standard'].validate(rows?.[0]?.config)).toMatchObject({ value: { package_blocklist: ['^@loopguard/llm$'] } })
})
