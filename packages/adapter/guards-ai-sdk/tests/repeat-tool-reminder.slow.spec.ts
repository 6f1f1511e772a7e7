import { repeatToolReminder, timeLimited } from '@loopguard/guards-ai-sdk'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { type Call, type Driver, drivers, providerTool, remindersIn, textsOf, tool } from './support/sdk.ts'

const look = (args: object | string = { path: 'a', line: 1 }): Call => ({ name: 'look', args })
const turned = { line: 1, path: 'a' }
const tools = { look: tool(() => 'the same') }

describe.each(drivers)('$title', ({ title, run }) => {
  it('reminds at the third and at the fifth equal call, in whatever order the keys are, and times out the tool that hangs', async () => {
    const hang = tool(
      (_input: unknown, { abortSignal }: { abortSignal: AbortSignal }) =>
        new Promise((resolve) => abortSignal.addEventListener('abort', () => setTimeout(resolve, 30, 'late'))),
    )
    const script = [[look()], [look(turned)], [look()], [look(turned)], [look()], [{ name: 'hang', args: {} }], 'done']
    const { prompts } = await run({ script, tools: { ...tools, hang: timeLimited(hang as object, 100) } })
    expect(remindersIn(prompts)).toEqual([0, 0, 0, 1, 1, 2, 2])
    expect(JSON.stringify(prompts.at(-1))).toContain('tool call timed out after 100ms')
    expect(JSON.stringify(prompts.at(-1))).not.toContain('late')
  })

  it('puts the reminder after the results of its step, as the last message, and keeps it there', async () => {
    const { prompts } = await run({ script: [[look()], [look()], [look()], [look()], 'done'], tools })
    expect(prompts.map((prompt) => prompt.map(({ role }) => role).join(' '))).toEqual([
      'user',
      'user assistant tool',
      'user assistant tool assistant tool',
      'user assistant tool assistant tool assistant tool user',
      'user assistant tool assistant tool assistant tool user assistant tool',
    ])
    for (const [index, prompt] of prompts.slice(1).entries()) expect(prompt.slice(0, prompts[index]?.length)).toEqual(prompts[index])
  })

  it('counts each call of a batch: three, then two', async () => {
    const { prompts } = await run({ script: [[look(), look(), look()], [look(), look()], 'done'], tools })
    expect(remindersIn(prompts)).toEqual([0, 1, 2])
  })

  it.each([
    ['of an unknown tool', { name: 'nowhere', args: {} }],
    ['that fail', { name: 'broken', args: {} }],
    ['with arguments that the schema refuses', { name: 'look', args: '[1]' }],
    ['with arguments that are no JSON', { name: 'look', args: '{"path' }],
  ])('counts calls %s', async (_what, call) => {
    const broken = tool(() => {
      throw new Error('no')
    })
    const { prompts } = await run({ script: [[call], [call], [call], 'done'], tools: { ...tools, broken } })
    expect(remindersIn(prompts)).toEqual([0, 0, 0, 1])
  })

  it('begins anew with each message of the user, and nothing of a reminder is handed on', async () => {
    const first = await run({ script: [[look()], [look()], [look()], 'done'], tools })
    expect(remindersIn(first.prompts)).toEqual([0, 0, 0, 1])
    expect(JSON.stringify(first.messages)).not.toContain('You are repeating')
    const history = [{ role: 'user', content: 'before' }, ...first.messages]
    const second = await run({ script: [[look()], [look()], 'done'], tools, history })
    expect(remindersIn(second.prompts)).toEqual([1, 1, 1])
  })

  it('takes the configuration: thresholds and excluded tools', async () => {
    const other = { name: 'note', args: {} }
    const script = [[look()], [other], [look()], 'done']
    const { prompts } = await run({ script, tools: { ...tools, note: tool(() => '') }, config: { thresholds: [2], exclude: ['note'] } })
    expect(remindersIn(prompts)).toEqual([0, 0, 0, 1])
  })

  it('leaves out what the provider executes', async () => {
    const search = { name: 'search', args: {}, providerExecuted: true }
    const { prompts } = await run({
      script: [
        [search, search, search, look()],
        [look(), search],
        [look(), search],
        [look(), search],
      ],
      tools: { ...tools, search: providerTool(title) },
    })
    expect(remindersIn(prompts).slice(0, 4)).toEqual([0, 0, 0, 1])
  })
})

it('says to the letter what the guard says', async () => {
  const { prompts } = await (drivers[0] as Driver).run({ script: [[look()], [look()], [look()], [look()], [look()], 'done'], tools })
  const [gentle, detailed] =
    prompts
      .at(-1)
      ?.filter(({ role }) => role === 'user')
      .slice(1)
      .flatMap(textsOf) ?? []
  expect(gentle).toMatch(/^You are repeating the exact same tool call/)
  expect(detailed).toMatch(/^Loop warning: .*\n- tool: look\n- consecutive_calls: 5\n- arguments: \{"line":1,"path":"a"\}\n/)
})

it('refuses a faulty configuration at once', () => {
  expect(() => repeatToolReminder({ thresholds: [1] })).toThrow(expect.objectContaining({ code: 'REPEAT_TOOL_REMINDER_CONFIG' }) as Error)
})

it('changes nothing of a prompt but its reminders, whatever the messages hold', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
  onTestFinished(() => warn.mockRestore())
  const { transformParams } = repeatToolReminder()
  const message = fc.record({ role: fc.constantFrom('system', 'user', 'assistant', 'tool'), content: fc.jsonValue() })
  await fc.assert(
    fc.asyncProperty(fc.array(message, { maxLength: 6 }), async (prompt) => {
      const params = { prompt, temperature: 1 }
      expect(await transformParams({ params })).toEqual(params)
    }),
  )
})
