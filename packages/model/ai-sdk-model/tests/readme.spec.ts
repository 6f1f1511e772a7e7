import { readFile } from 'node:fs/promises'
import { Config } from '@loopguard/ai-sdk-model'
import { says, startModelServer } from '@loopguard/testkit/model-server'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { ask } from './samples/smallest.ts'

const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')
const blocks = (language: string): string[] =>
  [...readme.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?\\n)\`\`\`$`, 'gms'))].map(([, text]) => text as string)

it('the smallest example gets an answer', async () => {
  await using server = await startModelServer([says({ text: 'Here I am.' })])
  expect(await ask(server.baseURL, 'Are you there?')).toEqual([{ type: 'text', text: 'Here I am.' }])
})

it('the row is one that the plugin takes, with the defaults that it has', () => {
  const [row] = parse(blocks('yaml')[0] as string) as [{ config: object }]
  expect(Config['~standard'].validate(row.config)).toEqual({ value: { ...row.config, sendReasoning: true } })
})
