import { fileURLToPath } from 'node:url'
import { Agent, Runner } from '@openai/agents-core'
import type { ScriptedModel } from '@openai/agents-core/testing'
import { expect, it } from 'vitest'
import { reader } from './samples/agent.ts'
import { guardedRunner } from './samples/provider.ts'
import { remindersIn, scripted, type Step } from './support.ts'

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
