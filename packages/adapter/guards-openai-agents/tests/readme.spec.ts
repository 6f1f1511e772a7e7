import { fileURLToPath } from 'node:url'
import { Agent, Runner } from '@openai/agents-core'
import type { ScriptedModel } from '@openai/agents-core/testing'
import { readdir, readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { reader } from './samples/agent.ts'
import { guardedRunner } from './samples/provider.ts'
import { remindersIn, scripted, type Step } from './support.ts'

const read = (path: string): Promise<string> => readFile(new URL(path, import.meta.url), 'utf8')
const pages = await Promise.all(['../README.md', '../../../../docs/other-loops/openai-agents.md'].map(read))
const blocks = (language: string): string[] =>
  pages.flatMap((page) => [...page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(([, text]) => text as string))

it('every sample of code, here and on the page in docs, is a file of tests/samples, to the letter, and the other way round', async () => {
  const files = await Promise.all((await readdir(new URL('samples/', import.meta.url))).map((file) => read(`samples/${file}`)))
  expect(new Set(blocks('ts'))).toEqual(new Set(files))
})

const steps: Step[] = [...Array.from({ length: 3 }, () => [{ name: 'read', args: { path: fileURLToPath(import.meta.url) } }]), 'done']
const requestsOf = (model: ScriptedModel) => model.calls.map(({ request }) => request.input)

it('agent: the third equal call is followed by a reminder', async () => {
  const model = scripted(steps)
  const { finalOutput } = await new Runner({ tracingDisabled: true }).run(reader(model), 'go')
  expect(finalOutput).toBe('done')
  expect(remindersIn(requestsOf(model))).toEqual([0, 0, 0, 1])
})

it('provider: an agent that names its model is reminded too', async () => {
  const model = scripted(steps)
  const { tools } = reader(model)
  await guardedRunner({ getModel: () => model }).run(new Agent({ name: 'a', model: 'some-model', tools }), 'go')
  expect(remindersIn(requestsOf(model))).toEqual([0, 0, 0, 1])
})
