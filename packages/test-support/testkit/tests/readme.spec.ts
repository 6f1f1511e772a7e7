import { readFile } from 'node:fs/promises'
import * as replay from '@loopguard/testkit/replay'
import * as scriptedModel from '@loopguard/testkit/scripted-model'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { cancelWhileRunning } from './samples/gates.ts'
import { oneTurn } from './samples/harness.ts'
import { cutOff } from './samples/model-server.ts'

const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')
const blocks = (language: string): string[] =>
  [...readme.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gm'))].map(([, block = '']) => block)

it('the samples do what they say', async () => {
  expect((await oneTurn()).filter((type) => type.startsWith('t'))).toEqual(['turn/start', 'tool/call', 'tool/result', 'turn/end'])
  expect(await cutOff()).toMatch(/^data: .*"Let me s"[^]*tool_calls[^]*data: \[DONE\]\n\n$/)
  expect(await cancelWhileRunning()).toBe('0 timers left, idle')
})

it('the rows name plugins of this package, with configurations that they take and the defaults that they have', () => {
  const plugins = { '@loopguard/testkit/scripted-model': scriptedModel, '@loopguard/testkit/replay': replay }
  for (const [row] of blocks('yaml').map((block) => parse(block) as [{ name: keyof typeof plugins; config: { provider?: string } }])) {
    const { provider, ...rest } = row.config
    expect(plugins[row.name].Config['~standard'].validate(rest)).toEqual({ value: { provider, ...rest } })
  }
})
