import { readFile } from 'node:fs/promises'
import { Context } from '@deepseek-ai/cordis'
import { createRepeatTracker } from '@loopguard/repeat'
import * as reminder from '@loopguard/repeat-tool-reminder'
import type { ToolExecutionResult } from '@loopguard/tools'
import { watchContexts } from '@loopguard/testkit'
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

it('the smallest example runs, and the model reads the very texts that are shown', async () => {
  const { look } = await import('./samples/smallest.ts')
  const texts: string[][] = []
  for (let call = 1; call <= 5; call++) texts.push(said(await look('a.txt')))
  const [gentle, detailed] = blocks('text')
  expect(texts).toEqual([[], [], [gentle], [], [detailed]])
})

it('the preview is cut as is shown', () => {
  const tracker = createRepeatTracker({ argumentsPreviewChars: 12 })
  const agent = {}
  const said = Array.from({ length: 5 }, () => tracker.observe(agent, 'look', { path: 'a.txt' }))
  expect(said.at(-1)?.split('\n')).toContain(blocks('text')[2])
})

it('the row loads; but for `exclude`, what it says are the defaults, which the table repeats', async () => {
  const [row] = parse(blocks('yaml')[0] as string) as [{ name: string; config: Record<string, unknown> }]
  expect(row.name).toBe('@loopguard/repeat-tool-reminder')
  const ctx = new Context()
  await ctx.plugin(reminder, row.config)
  const fiber = await ctx.plugin(reminder)
  const defaults = fiber.config as Record<string, unknown>
  expect(row.config).toEqual({ ...defaults, exclude: ['todo_*'] })
  const table = [...readme.matchAll(/^\| `(\w+)` \| `([^`]+)` \|/gm)].map(([, key, value]) => [key, JSON.parse(value as string)])
  expect(Object.fromEntries(table)).toEqual(defaults)
  await ctx.fiber.dispose()
})

it('the faults are reported in the words that are shown', async () => {
  const shown = (blocks('text')[3] as string).split('\n')
  const configs = [{ thresholds: [1.5] }, { thresholds: [] }, { thresholds: [2, 2] }, { treshold: [3] }] as reminder.Config[]
  const ctx = new Context()
  for (const [index, config] of configs.entries()) {
    await expect(async () => ctx.plugin(reminder, config)).rejects.toThrow(`invalid config:\n  - ${shown[index]}`)
  }
  expect(shown).toHaveLength(configs.length)
})
