import { tool } from '@openai/agents-core'
import { repeatedFailureReminder, repeatToolReminder } from '@loopguard/guards-openai-agents'
import { isReminder } from '@loopguard/repeat'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { readWithResults } from '../src/items.ts'
import { agentOf, type Call, look, remindersIn, type Step } from './support.ts'

const parameters = z.object({ path: z.string(), line: z.number() })
const lookWith = (execute: () => string) =>
  tool({ name: 'look', description: '', parameters, execute, errorFunction: (_context, error) => String(error) })
const note: Call = { name: 'note', args: {} }
const noteTool = tool({ name: 'note', description: '', parameters: z.object({}), execute: () => 'noted' })
const broken = lookWith(() => {
  throw new Error('no such table')
})
const errors = '^Error: '

it('counts a call on, under `unchanged`, only while its result stays the same', async () => {
  const script: Step[] = [[look()], [look()], [look()], 'done']
  let calls = 0
  const changing = agentOf(script, [lookWith(() => `line ${++calls} of the log`)], { results: 'unchanged' })
  await changing.turn()
  expect(remindersIn(changing.requests())).toEqual([0, 0, 0, 0])
  const same = agentOf(script, [lookWith(() => 'the same')], { results: 'unchanged' })
  await same.turn()
  expect(remindersIn(same.requests())).toEqual([0, 0, 0, 1])
})

it('reminds of a call that fails a third time with one error, with other calls between', async () => {
  const script: Step[] = [[look()], [note], [look()], [note], [look()], 'done']
  const { requests, turn } = agentOf(script, [broken, noteTool], {}, repeatedFailureReminder({ errors }))
  await turn()
  expect(remindersIn(requests())).toEqual([0, 0, 0, 0, 0, 1])
  const texts = (requests().at(-1) as { content?: string }[]).map(({ content = '' }) => content)
  expect(texts.find(isReminder)).toMatch(/^This call has failed 3 times .*\n- tool: look\n.*\n- error: .*no such table/)
})

it('says of one call in a row what the other reminder says, and not both', async () => {
  const both = <M extends Parameters<ReturnType<typeof repeatToolReminder>>[0]>(model: M): M =>
    repeatToolReminder()(repeatedFailureReminder({ errors }, {})(model))
  const { requests, turn } = agentOf([[look()], [look()], [look()], 'done'], [broken], {}, both)
  await turn()
  expect(remindersIn(requests())).toEqual([0, 0, 0, 1])
})

it.each([
  [
    { type: 'function_call_result', output: 'a' },
    { isError: false, text: 'a' },
  ],
  [
    { type: 'function_call_result', output: { type: 'text', text: 'a' } },
    { isError: false, text: 'a' },
  ],
  [
    { type: 'shell_call_output', output: [{ stdout: 'a' }] },
    { isError: false, text: '[{"stdout":"a"}]' },
  ],
  [
    { type: 'apply_patch_call_output', status: 'failed' },
    { isError: true, text: 'null' },
  ],
])('reads the result %j', (item, outcome) => {
  expect(readWithResults({ ...item, callId: '1' }).results).toEqual([{ id: '1', ...outcome }])
})

it('refuses a faulty configuration at once, and one without `errors` as it compiles', () => {
  const refused = expect.objectContaining({ code: 'REPEATED_FAILURE_REMINDER_CONFIG' }) as Error
  expect(() => repeatedFailureReminder({ errors: '(' })).toThrow(refused)
  // @ts-expect-error -- the SDK does not say which results are errors
  expect(repeatedFailureReminder({ thresholds: [2] })).toBeTypeOf('function')
})
