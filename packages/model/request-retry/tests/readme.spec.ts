import { readFile } from 'node:fs/promises'
import { Config } from '@loopguard/request-retry'
import { expect, it, onTestFinished, vi } from 'vitest'
import { parse } from 'yaml'

const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')
const blocks = (language: string): string[] =>
  [...readme.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?\\n)\`\`\`$`, 'gms'))].map(([, text]) => text as string)

it('the smallest example asks again', async () => {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {})
  onTestFinished(() => log.mockRestore())
  const { harness } = await import('./samples/smallest.ts')
  onTestFinished(() => harness.dispose())
  expect(log.mock.calls).toEqual([[['request/header', 'request/failed', 'request/retry']]])
})

it('the row is one that the plugin takes, with the defaults that it has', () => {
  const [row] = parse(blocks('yaml')[0] as string) as [{ config: object }]
  const defaults = Config['~standard'].validate({}) as { value: object }
  expect(Config['~standard'].validate(row.config)).toEqual({ value: { ...defaults.value, ...row.config } })
})
