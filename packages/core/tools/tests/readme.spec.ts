import { readdir, readFile } from 'node:fs/promises'
import { Context } from '@deepseek-ai/cordis'
import ToolRuntime, { ToolFailures } from '@loopguard/tools'
import { watchContexts } from '@loopguard/testkit'
import { afterAll, describe, expect, it } from 'vitest'
import { outcomes } from './outcomes.ts'
import { hello } from './samples/hello.ts'
import * as policy from './samples/policy.ts'
import * as retry from './samples/retry.ts'
import { Host, said, traceStages } from './support.ts'

afterAll(watchContexts())

const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')

/** The cells of the table below `heading`, row by row, without its head. */
function table(heading: string): string[][] {
  const [rows] = /(?:^\|.*\n)+/m.exec(readme.slice(readme.indexOf(heading))) ?? ['']
  const cells = rows
    .trim()
    .split('\n')
    .map((row) =>
      row
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    )
  return cells.slice(2)
}

describe('the table of outcomes', () => {
  const rows = table('<!-- outcomes:')
  const done = { run: (host: Host) => host.call(), text: 'done', info: undefined }
  const all = { success: done, ...outcomes }

  it('has a row for each', () => {
    expect(new Set(rows.map(([outcome]) => outcome))).toEqual(new Set(Object.keys(all)))
  })

  it.each(rows)('says of "%s" what happens', async (outcome, stages, text, info) => {
    const host = await Host.start()
    const traced = traceStages(host.ctx)
    const { run } = all[outcome as keyof typeof all] ?? done
    const running = run(host)
    const { body } = host
    host.body = (args, exec) => (traced.push('body'), body(args, exec))
    const result = await running
    expect(traced.join(', ')).toBe(stages)

    const wanted = text?.startsWith('(') === true ? 'done' : text?.slice(1, -1)
    const pattern = wanted
      ?.split(/<\w+>/)
      .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('.+')
    expect(said(result)).toMatch(new RegExp(`^${pattern}$`))

    const given = result.isError ? result.error.info : undefined
    const own = 'its name / its `code`, when that is text'
    expect([given === undefined ? '' : `\`${given.name}\` / \`${given.code}\``, ...(given === undefined ? [] : [own])]).toContain(info)
  })

  it('holds every failure of the pipeline', () => {
    const codes = rows.map(([, , , info]) => /\/ `(\w+)`/.exec(info as string)?.[1])
    for (const [code, info] of Object.entries(ToolFailures)) {
      expect(codes).toContain(code)
      expect(info.code).toBe(code)
    }
  })
})

it('the table of errors holds every code that the sources give', async () => {
  const sources = new URL('../src/', import.meta.url)
  const files = await Promise.all((await readdir(sources)).map((file) => readFile(new URL(file, sources), 'utf8')))
  const given = new Set(files.flatMap((source) => [...source.matchAll(/'([A-Z]+(?:_[A-Z]+)+)'/g)].map(([, code]) => code as string)))
  for (const code of Object.keys(ToolFailures)) given.delete(code)
  // Of @loopguard/llm.
  given.delete('NOT_JSON')
  expect(new Set(table('## Errors').map(([code]) => code?.slice(1, -1)))).toEqual(given)
})

describe('the samples', () => {
  it('hello: a result, and a violation', async () => {
    expect(await hello({ a: 1, b: 2 })).toBe('3')
    expect(await hello({ a: 1 })).toBe('Error: invalid arguments: arguments must have the property "b"')
  })

  it('policy: asks, and vetoes', async () => {
    const host = await Host.start()
    await host.ctx.plugin(policy)
    host.tool({ name: 'delete' })
    expect(said(await host.call())).toBe('done')
    expect(said(await host.call({ arguments: { path: '/etc/passwd' } }))).toBe('Error: nothing below /etc is to be touched')
    expect(said(await host.call({ name: 'delete', agent: await host.agent('a') }))).toContain('needs approval')
  })

  it('retry: a second attempt', async () => {
    let attempts = 0
    const host = await Host.start(() => (++attempts === 1 ? Promise.reject(new Error('first')) : 'second'))
    await host.ctx.plugin(retry)
    expect(said(await host.call())).toBe('second')
  })
})

it('the default export is the service', async () => {
  const ctx = new Context()
  await ctx.plugin(ToolRuntime)
  expect(ctx.get('tools')).toBeDefined()
})
