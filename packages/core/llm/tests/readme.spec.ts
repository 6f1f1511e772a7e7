import { readdir, readFile } from 'node:fs/promises'
import * as llm from '@loopguard/llm'
import { LlmError } from '@loopguard/llm'
import { watchContexts } from '@loopguard/testkit'
import { afterAll, expect, it } from 'vitest'
import { ask } from './samples/ask.ts'
import * as retry from './samples/retry.ts'
import { adapterOf, collect, host, requestOf, saying } from './support.ts'

afterAll(watchContexts())

const folder = new URL('../', import.meta.url)
const readme = await readFile(new URL('README.md', folder), 'utf8')

it('ask: an answer, or a finish that says why there is none', async () => {
  expect(await ask('echo', 'hello')).toBe('hello {"kind":"stop"}')
  expect(await ask('other', 'hello')).toContain('"code":"NO_ADAPTER"')
})

it('retry: up to three times, while nothing else has come', async () => {
  const ctx = await host()
  let attempts = 0
  let failures = 2
  ctx.llm.registerAdapter(
    ['p'],
    adapterOf(async function* () {
      attempts++
      if (failures-- > 0) throw new LlmError('busy', 'BUSY')
      yield* saying('hi')
    }),
  )
  await ctx.plugin(retry)
  expect([await collect(ctx.llm.stream(requestOf())), attempts]).toEqual([saying('hi'), 3])
  failures = 9
  const chunks = await collect(ctx.llm.stream(requestOf()))
  expect([chunks, attempts]).toEqual([[{ type: 'finish', reason: { kind: 'error', failure: { message: 'busy', code: 'BUSY' } } }], 6])
})

it('the README names every public value', () => {
  const names = Object.keys(llm).filter((name) => !['default', 'LlmRuntime'].includes(name))
  expect(names.filter((name) => !readme.includes(`\`${name}\``))).toEqual([])
})

it('the table of errors holds every code that the sources name, and no other', async () => {
  const source = new URL('src/', folder)
  const files = (await readdir(source)).filter((file) => file !== 'invariant.ts')
  const texts = await Promise.all(files.map((file) => readFile(new URL(file, source), 'utf8')))
  const codes = new Set([...texts.join('\n').matchAll(/'([A-Z]+_[A-Z_]+)'/g)].map(([, code]) => code))
  const [table = ''] = /(?:^\|.*\n)+/m.exec(readme.slice(readme.indexOf('<!-- errors:'))) ?? []
  const listed = [...table.matchAll(/^\| `([A-Z_]+)`/gm)].map(([, code]) => code)
  expect(new Set(listed)).toEqual(codes)
})
