import { readFile } from 'node:fs/promises'
import { Config } from '@loopguard/budget'
import { expect, it, onTestFinished, vi } from 'vitest'
import { parse } from 'yaml'
import { forEver, looks, reached, restless, results, stage } from './stage.ts'

const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')
const blocks = (language: string): string[] =>
  [...readme.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?\\n)\`\`\`$`, 'gms'))].map(([, text]) => text as string)
const texts = blocks('text')

it('the smallest example prints what is shown', async () => {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {})
  onTestFinished(() => log.mockRestore())
  const { harness } = await import('./samples/smallest.ts')
  onTestFinished(() => harness.dispose())
  expect(log.mock.calls.map(([line]) => `${String(line)}\n`).join('')).toBe(texts[0])
})

it('the row is one that the plugin takes', () => {
  const [row] = parse(blocks('yaml')[0] as string) as [{ config: object }]
  expect(Config['~standard'].validate(row.config)).toEqual({ value: { include: [], ...row.config } })
})

it('the model reads the very texts that are shown', async () => {
  const denials = (texts[1] as string).trimEnd().split('\n')
  const last = async (config: object, script: Parameters<typeof stage>[1]): Promise<string> => {
    const { agent1, say } = await stage(config, script)
    await say(agent1, 'go')
    return results(agent1).at(-1) ?? ''
  }
  const stop = { text: 'done' }
  const said = [
    await last({ maxCallsPerTurn: 40 }, { script: [...forEver(restless()).slice(0, 41), stop] }),
    await last({ maxCallsPerAgent: 200 }, { script: [...forEver(restless()).slice(0, 201), stop] }),
    await last({ maxEqualCalls: 5 }, { script: [...Array.from({ length: 6 }, () => looks()), stop] }),
  ]
  expect(said).toEqual(denials.map((line) => `DENIED ${line}`))
})

it('the event and the faults are those that are shown', async () => {
  const { agent1, say } = await stage({ maxStepsPerTurn: 1 }, { script: forEver(restless()) })
  await say(agent1, 'go')
  expect(reached(agent1)).toHaveLength(1)
  const event = agent1.session.events.find(({ type }) => type === 'budget/reached')
  expect(`budget/reached { ${Object.keys(event?.data ?? {}).join(', ')} }\n`).toBe(texts[2])
  const outcome = (config: object) => Config['~standard'].validate(config) as { issues: { message: string }[] }
  const [first, second, third] = (texts[3] as string).trimEnd().split('\n')
  expect(outcome({ maxTurnMs: 0 }).issues[0]?.message).toBe(first)
  const issues = outcome({ maxStepPerTurn: 3 }).issues.map(({ message }) => message)
  expect(issues[0]).toBe(second)
  expect(issues[1]?.startsWith((third as string).replace(', …', ''))).toBe(true)
})
