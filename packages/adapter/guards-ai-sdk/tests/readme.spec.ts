import { fileURLToPath } from 'node:url'
import type { MockLanguageModelV4 } from 'ai7/test'
import { expect, it } from 'vitest'
import { answer } from './samples/agent.ts'
import { builder } from './samples/yielding-tool.ts'
import { modelOf, remindersIn } from './support/sdk.ts'

it('agent: the third equal call is followed by a reminder, and the tool is bounded', async () => {
  const call = [{ name: 'read', args: { path: fileURLToPath(import.meta.url) } }]
  const { model, prompts } = modelOf('ai 7', [call, call, call, 'done'])
  expect(await answer(model as MockLanguageModelV4, 'go')).toBe('done')
  expect(remindersIn(prompts)).toEqual([0, 0, 0, 1])
})

it('yielding tool: the build that hangs ends with its budget', async () => {
  const { model, prompts } = modelOf('ai 7', [[{ name: 'build', args: { target: 'app' } }], 'done'])
  await builder(model as MockLanguageModelV4).generate({ prompt: 'go' })
  expect(JSON.stringify(prompts[1])).toContain('tool call timed out after 50ms')
})
