import { readFile } from 'node:fs/promises'
import { Context } from '@deepseek-ai/cordis'
import * as guard from '@loopguard/repeated-failure-reminder'
import { watchContexts } from '@loopguard/testkit'
import type { ToolExecutionResult } from '@loopguard/tools'
import { afterAll, expect, it, vi } from 'vitest'
import { parse } from 'yaml'
import { textOf } from './stage.ts'

afterAll(watchContexts())

// A busy machine takes its time.
vi.setConfig({ testTimeout: 60_000 })

const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')
const blocks = (language: string): string[] =>
  [...readme.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)\\n\`\`\`$`, 'gms'))].map(([, text]) => text as string)
const said = ({ additionalContexts = [] }: ToolExecutionResult): string[] => additionalContexts.map(textOf)

it('the smallest example runs, and the model reads the very text that is shown', async () => {
  const { book } = await import('./samples/smallest.ts')
  const texts: string[][] = []
  for (const room of ['B2', 'B3', 'B2', 'B3', 'B2']) texts.push(said(await book(room)))
  expect(texts).toEqual([[], [], [], [], [blocks('text')[0]]])
})

it('the rows load; but for `exclude`, what the first says are the defaults, which the table repeats', async () => {
  const [[row], [shell]] = blocks('yaml').map((block) => parse(block) as [{ name: string; config: Record<string, unknown> }]) as [
    [{ name: string; config: Record<string, unknown> }],
    [{ name: string; config: { errors: string } }],
  ]
  expect([row.name, shell.name]).toEqual(['@loopguard/repeated-failure-reminder', '@loopguard/repeated-failure-reminder'])
  const ctx = new Context()
  await ctx.plugin(guard, row.config)
  await ctx.plugin(guard, shell.config)
  const fiber = await ctx.plugin(guard)
  const defaults = fiber.config as Record<string, unknown>
  expect(row.config).toEqual({ ...defaults, exclude: ['todo_*'] })
  const table = [...readme.matchAll(/^\| `(\w+)` \| `([^`]+)` \|/gm)].map(([, key, value]) => [key, JSON.parse(value as string)])
  expect(Object.fromEntries(table)).toEqual(defaults)
  for (const text of ['1 failed\n[exit code: 1]', '[killed by signal: SIGKILL]', 'x\n[timed out after 5ms]'])
    expect(text).toMatch(new RegExp(shell.config.errors, 'm'))
  expect('all [exit code: 0] well').not.toMatch(new RegExp(shell.config.errors, 'm'))
  await ctx.fiber.dispose()
})

it('the faults are reported in the words that are shown', async () => {
  const shown = (blocks('text')[1] as string).split('\n')
  const configs = [{ errors: '(' }, { maskVolatile: 'no' }, { error: 'x' }] as never[]
  const ctx = new Context()
  for (const [index, config] of configs.entries()) {
    await expect(async () => ctx.plugin(guard, config)).rejects.toThrow(`invalid config:\n  - ${shown[index]}`)
  }
  expect(shown).toHaveLength(configs.length)
})
