import { MemorySaver } from '@langchain/langgraph'
import { repeatToolReminder, timeLimited } from '@loopguard/guards-langchain'
import { type BaseMessage, createAgent, HumanMessage, tool } from 'langchain'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { agentOf, look, remindersIn, type Step, turned } from './support.ts'

const schema = z.object({ path: z.string(), line: z.number() })
const lookTool = tool(() => 'the same', { name: 'look', description: '', schema })
const aborted = (signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => signal?.addEventListener('abort', () => resolve()))
const noteTool = tool(() => 'noted', { name: 'note', description: '', schema: z.object({}) })
/** Anew each time: the agent gives a message an id, and takes one of the same id for the same. */
const go = () => ({ messages: [new HumanMessage('go')] })

it.each(['invoke', 'stream'] as const)('reminds at the third and fifth equal call, and times a hanging tool out: %s', async (door) => {
  const hang = tool(
    timeLimited(
      (_args: object, { signal }: { signal?: AbortSignal }) =>
        new Promise<string>((resolve) => signal?.addEventListener('abort', () => setTimeout(resolve, 30, 'late'))),
      100,
    ),
    { name: 'hang', description: '', schema: z.object({}) },
  )
  const script: Step[] = [[look()], [turned], [look()], [turned], [look()], [{ name: 'hang', args: {} }], 'done']
  const { agent, requests } = agentOf(script, [lookTool, hang])
  if (door === 'invoke') await agent.invoke(go())
  else for await (const _piece of await agent.stream(go())) continue
  expect(remindersIn(requests())).toEqual([0, 0, 0, 1, 1, 2, 2])
  expect(requests().at(-1)?.at(-1)?.text).toBe('Error: tool call timed out after 100ms')
})

it('puts the reminder after the results of its step, as the last message, and keeps it there', async () => {
  const { agent, requests } = agentOf([[look(), look()], [look()], [look()], 'done'], [lookTool])
  await agent.invoke(go())
  expect(requests().map((messages) => messages.map(({ type }) => type).join(' '))).toEqual([
    'human',
    'human ai tool tool',
    'human ai tool tool ai tool human',
    'human ai tool tool ai tool human ai tool',
  ])
})

it('counts each call of a batch: three, then two', async () => {
  const { agent, requests } = agentOf([[look(), look(), look()], [look(), look()], 'done'], [lookTool])
  await agent.invoke(go())
  expect(remindersIn(requests())).toEqual([0, 1, 2])
})

it.each([
  ['of an unknown tool', [{ name: 'nowhere', args: {} }]],
  ['that the schema refuses', [look({})]],
  ['with arguments that are no JSON', { invalid: '{"path' }],
] as const)('counts calls %s', async (_what, step) => {
  const { agent, requests } = agentOf([step, step, step, 'done'], [lookTool, noteTool], { config: { exclude: ['note'] } })
  await agent.invoke(go())
  expect(remindersIn(requests())).toEqual([0, 0, 0, 1])
})

it.each([
  ['fail', () => Promise.reject(new Error('no'))],
  ['run out of their budget', timeLimited((_args: object, { signal }: { signal?: AbortSignal }) => aborted(signal), 5)],
])('counts calls that %s', async (_what, body) => {
  const failing = tool(body, { name: 'failing', description: '', schema: z.object({}) })
  const step = [{ name: 'failing', args: {} }]
  const { agent, requests } = agentOf([step, step, step, 'done'], [failing])
  await agent.invoke(go())
  expect(remindersIn(requests())).toEqual([0, 0, 0, 1])
})

it('stores nothing: with a checkpointer the state holds no reminder after two turns, and each turn begins anew', async () => {
  const saver = new MemorySaver()
  const { agent, requests } = agentOf([[look()], [look()], [look()], 'done', [look()], [look()], [look()], 'done'], [lookTool], { saver })
  const thread = { configurable: { thread_id: '1' } }
  await agent.invoke(go(), thread)
  const { messages } = await agent.invoke(go(), thread)
  expect(remindersIn(requests())).toEqual([0, 0, 0, 1, 1, 1, 1, 2])
  expect(messages).toHaveLength(16)
  expect(remindersIn([messages])).toEqual([0])
  const stored: number[] = []
  for await (const { checkpoint } of saver.list(thread)) {
    stored.push(...remindersIn([(checkpoint.channel_values['messages'] ?? []) as BaseMessage[]]))
  }
  expect(stored.length).toBeGreaterThan(8)
  expect(new Set(stored)).toEqual(new Set([0]))
})

it('takes the configuration, and refuses a faulty one at once', async () => {
  const note = { name: 'note', args: {} }
  const { agent, requests } = agentOf([[look()], [note], [look()], 'done'], [lookTool, noteTool], {
    config: { thresholds: [2], exclude: ['note'] },
  })
  await agent.invoke(go())
  expect(remindersIn(requests())).toEqual([0, 0, 0, 1])
  expect(() => repeatToolReminder({ thresholds: [1] })).toThrow(expect.objectContaining({ code: 'REPEAT_TOOL_REMINDER_CONFIG' }) as Error)
})

it('fits the type of a middleware, and refuses wrong arguments as it compiles', () => {
  const refused = (): void => {
    // @ts-expect-error -- a threshold is a number
    repeatToolReminder({ thresholds: ['3'] })
    // @ts-expect-error -- milliseconds are a number
    timeLimited(() => 1, '5')
    createAgent({ model: 'none', tools: [lookTool], middleware: [repeatToolReminder()] })
  }
  expect(refused).toBeTypeOf('function')
})
