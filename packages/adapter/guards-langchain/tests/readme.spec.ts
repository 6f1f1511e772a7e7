import { fileURLToPath } from 'node:url'
import { HumanMessage, ToolMessage } from 'langchain'
import { expect, it } from 'vitest'
import { reader } from './samples/agent.ts'
import { twoTurns } from './samples/thread.ts'
import { remindersIn, scripted, type Step } from './support.ts'

it('agent: the third equal call is followed by a reminder', async () => {
  const model = scripted([...Array.from({ length: 3 }, () => [{ name: 'read', args: { path: fileURLToPath(import.meta.url) } }]), 'done'])
  const { messages } = await reader(model).invoke({ messages: [new HumanMessage('go')] })
  expect(remindersIn(model.calls.map((call) => call.messages))).toEqual([0, 0, 0, 1])
  expect(messages.filter((one) => ToolMessage.isInstance(one)).map(({ status }) => status)).toEqual(['success', 'success', 'success'])
})

it('thread: reminded in each turn, and nothing of it is kept', async () => {
  const turn: Step[] = [...Array.from({ length: 3 }, () => [{ name: 'status', args: {} }]), 'done']
  const model = scripted([...turn, ...turn])
  const { messages } = await twoTurns(model)
  expect(remindersIn(model.calls.map((call) => call.messages))).toEqual([0, 0, 0, 1, 1, 1, 1, 2])
  expect(remindersIn([messages])).toEqual([0])
})
