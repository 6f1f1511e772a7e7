import { readFile } from 'node:fs/promises'
import { Context, type Plugin } from '@deepseek-ai/cordis'
import ToolRuntime from '@loopguard/tools'
import WebRuntime from '@loopguard/web'
import * as webTools from '@loopguard/web/tools'
import { expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { said } from './host.ts'

const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')
const blocks = (language: string): string[] =>
  [...readme.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?\\n)\`\`\`$`, 'gms'))].map(([, text]) => text as string)

it('the smallest example runs, and the model reads the texts that are shown', async () => {
  const { results } = await import('./samples/smallest.ts')
  const texts = results.map((result) => `${said(result).replace(/127\.0\.0\.1:\d+/, '127.0.0.1:8000')}\n`)
  expect(texts).toEqual(blocks('text').slice(0, 2))
})

it('the rows load in their order, and the provider of the other sample with them', async () => {
  const rows = parse(blocks('yaml')[0] as string) as { name: string; config?: object }[]
  const ctx = new Context()
  onTestFinished(() => ctx.fiber.dispose())
  await ctx.plugin(ToolRuntime)
  for (const { name, config } of rows) {
    const module = (await import(name)) as { default?: Plugin }
    await ctx.plugin(module.default ?? (module as unknown as Plugin), config as never)
  }
  expect(ctx.tools.schemas().map(({ name }) => name)).toEqual(['web_fetch', 'web_search'])
  await ctx.plugin(await import('./samples/provider.ts'))
  await expect(ctx.web.fetch({ url: 'http://a.test/' })).rejects.toMatchObject({ code: 'WEB_PROVIDER_AMBIGUOUS' })
})

it('the table of defaults is what the tools start with', async () => {
  const ctx = new Context()
  onTestFinished(() => ctx.fiber.dispose())
  await ctx.plugin(ToolRuntime)
  await ctx.plugin(WebRuntime)
  const fiber = await ctx.plugin(webTools)
  const table = [...readme.matchAll(/^\| `(\w+)` \| `([^`]+)` \|/gm)].map(([, key, value]) => [key, JSON.parse(value as string)])
  expect(Object.fromEntries(table)).toEqual(fiber.config)
})
