import { repeatedFailureReminder, repeatToolReminder } from '@loopguard/guards-langchain'
import { HumanMessage, tool } from 'langchain'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { agentOf, type Call, look, remindersIn, type Step } from './support.ts'

const schema = z.object({ path: z.string(), line: z.number() })
const go = () => ({ messages: [new HumanMessage('go')] })
const lookWith = (body: (args: z.infer<typeof schema>) => unknown) => tool(body, { name: 'look', description: '', schema })
const note: Call = { name: 'note', args: {} }
const noteTool = tool(() => 'noted', { name: 'note', description: '', schema: z.object({}) })
const broken = lookWith(() => Promise.reject(new Error('no such table')))

it('counts a call on, under `unchanged`, only while its result stays the same', async () => {
  const script: Step[] = [[look()], [look()], [look()], 'done']
  let calls = 0
  const changing = agentOf(script, [lookWith(() => `line ${++calls} of the log`)], { config: { results: 'unchanged' } })
  await changing.agent.invoke(go())
  expect(remindersIn(changing.requests())).toEqual([0, 0, 0, 0])
  const same = agentOf(script, [lookWith(() => 'the same')], { config: { results: 'unchanged' } })
  await same.agent.invoke(go())
  expect(remindersIn(same.requests())).toEqual([0, 0, 0, 1])
})

it('reminds of a call that fails a third time with one error, with other calls between', async () => {
  const script: Step[] = [[look()], [note], [look()], [note], [look()], 'done']
  const { agent, requests } = agentOf(script, [broken, noteTool], { middleware: [repeatedFailureReminder()] })
  const { messages } = await agent.invoke(go())
  expect(remindersIn(requests())).toEqual([0, 0, 0, 0, 0, 1])
  expect(requests().at(-1)?.at(-1)?.text).toMatch(/^This call has failed 3 times .*\n- tool: look\n.*\n- error: .*no such table/)
  expect(remindersIn([messages])).toEqual([0])
})

it('says of one call in a row what the other reminder says, and not both', async () => {
  const middleware = [repeatToolReminder(), repeatedFailureReminder({}, {})]
  const { agent, requests } = agentOf([[look()], [look()], [look()], 'done'], [broken], { middleware })
  await agent.invoke(go())
  expect(remindersIn(requests())).toEqual([0, 0, 0, 1])
})

it('refuses a faulty configuration at once', () => {
  const refused = expect.objectContaining({ code: 'REPEATED_FAILURE_REMINDER_CONFIG' }) as Error
  expect(() => repeatedFailureReminder({ thresholds: [1] })).toThrow(refused)
})
