import { repeatedFailureReminder, repeatToolReminder } from '@loopguard/guards-ai-sdk'
import { isReminder } from '@loopguard/repeat'
import { describe, expect, it } from 'vitest'
import { readWithResults } from '../src/messages.ts'
import { type Call, drivers, type Message, remindersIn, textsOf, tool } from './support/sdk.ts'

const look = (path = 'a'): Call => ({ name: 'look', args: { path } })
const note: Call = { name: 'note', args: {} }
const noteTool = tool(() => 'noted')

describe.each(drivers)('$title', ({ run }) => {
  it('counts a call on, under `unchanged`, only while its result stays the same', async () => {
    const config = { results: 'unchanged' } as const
    const script = [[look()], [look()], [look()], [look()], 'done']
    let calls = 0
    const changing = await run({ script, tools: { look: tool(() => `line ${++calls} of the log`) }, config })
    expect(remindersIn(changing.prompts)).toEqual([0, 0, 0, 0, 0])
    const same = await run({ script, tools: { look: tool(() => ({ lines: [1] })) }, config })
    expect(remindersIn(same.prompts)).toEqual([0, 0, 0, 1, 1])
  })

  it('joins each result with its call, also when the second is there first', async () => {
    let [turn, open] = [0, (): void => {}]
    const take = tool(async ({ path }: { path: string }) => {
      if (path === 'slow') return new Promise((resolve) => (open = () => resolve('same')))
      setImmediate(() => open())
      return `answer ${++turn}`
    })
    const both = [look('slow'), look('quick')]
    const { prompts } = await run({
      script: [both, both, both, 'done'],
      tools: { look: take },
      config: { results: 'unchanged', thresholds: [2] },
    })
    expect(remindersIn(prompts)).toEqual([0, 0, 0, 0])
  })

  it('reminds of a call that fails a third time with one error, with other calls between', async () => {
    const broken = tool(() => {
      throw new Error('no such table')
    })
    const script = [[look()], [note], [look()], [note], [look()], 'done']
    const { prompts, messages } = await run({ script, tools: { look: broken, note: noteTool }, middleware: [repeatedFailureReminder()] })
    expect(remindersIn(prompts)).toEqual([0, 0, 0, 0, 0, 1])
    expect(prompts.at(-1)?.flatMap(textsOf).find(isReminder)).toMatch(
      /^This call has failed 3 times .*\n- tool: look\n.*\n- error: .*no such table/,
    )
    expect(JSON.stringify(messages)).not.toContain('This call has failed')
  })

  it('says of one call in a row what the other reminder says, and not both', async () => {
    const broken = tool(() => {
      throw new Error('no')
    })
    const middleware = [repeatToolReminder(), repeatedFailureReminder({}, {})]
    const { prompts } = await run({ script: [[look()], [look()], [look()], 'done'], tools: { look: broken }, middleware })
    expect(remindersIn(prompts)).toEqual([0, 0, 0, 1])
  })
})

it.each([
  [
    { type: 'text', value: 'a' },
    { isError: false, text: 'a' },
  ],
  [
    { type: 'json', value: { a: 1 } },
    { isError: false, text: '{"a":1}' },
  ],
  [
    { type: 'error-text', value: 'no' },
    { isError: true, text: 'no' },
  ],
  [
    { type: 'error-json', value: [1] },
    { isError: true, text: '[1]' },
  ],
  [
    { type: 'execution-denied', reason: 'no' },
    { isError: true, text: '"no"' },
  ],
  [undefined, { isError: false, text: 'null' }],
])('reads the output %j', (output, outcome) => {
  const message = { role: 'tool', content: [{ type: 'tool-result', toolCallId: '1', output }] }
  expect(readWithResults(message as Message).results).toEqual([{ id: '1', ...outcome }])
})

it('refuses a faulty configuration at once', () => {
  const refused = expect.objectContaining({ code: 'REPEATED_FAILURE_REMINDER_CONFIG' }) as Error
  expect(() => repeatedFailureReminder({ thresholds: [1] })).toThrow(refused)
})
