import * as reminder from '@loopguard/repeat-tool-reminder'
import type { ToolDefinition } from '@loopguard/tools'
import { describe, expect, it } from 'vitest'
import { CALLS, execute, isReminder, mark, postExecute, stage } from './stage.ts'

/** What the reminder says of calls of one tool with these results; an error in capitals. */
async function said(results: readonly string[], config: reminder.Config): Promise<string[]> {
  await using harness = await stage(config)
  const left = [...results]
  const poll: ToolDefinition = {
    name: 'poll',
    description: '',
    parameters: {},
    execute: () => {
      const result = left.shift() ?? ''
      if (/^[A-Z]/.test(result)) throw new Error(result)
      return result
    },
  }
  harness.ctx.tools.register(poll)
  const agent = harness.agent()
  harness.model.push(...results.map(() => ({ calls: [{ name: 'poll', arguments: {} }] })), { text: 'done' })
  await harness.say(agent, 'go')
  expect(harness.log).toEqual([])
  const words: string[] = []
  for (const { type, data } of agent.session.events) {
    if (type === 'tool/result') words.push('')
    if (type === 'user/message' && isReminder(data)) words.push(`${words.pop()}${mark(data)}`)
  }
  return words
}

describe('results', () => {
  it.each([
    ['the same, thrice', ['a', 'a', 'a', 'a'], ['', '', '!', '']],
    ['one that changed starts the run', ['a', 'a', 'b', 'b', 'b', 'b', 'b'], ['', '', '', '', '!', '', '!5']],
    ['polling that moves is never reminded of', ['0/1 4s', '0/1 9s', '0/1 13s', '0/1 21s', '1/1 30s'], ['', '', '', '', '']],
    ['times and ids that differ are no change', ['at 10:00:01', 'at 10:00:02', 'at 10:00:05'], ['', '', '!']],
    ['numbers in errors that differ are no change', ['Line 3', 'Line 4', 'Line 5'], ['', '', '!']],
    ['an error after a success is one', ['a', 'a', 'A', 'A', 'A'], ['', '', '', '', '!']],
  ])('unchanged: %s', async (_title, results, expected) => {
    expect(await said(results, { results: 'unchanged' })).toEqual(expected)
  })

  it('any, the default: they do not matter', async () => {
    expect(await said(['a', 'b', 'c', 'd', 'e'], {})).toEqual(['', '', '!', '', '!5'])
    expect(await said(['a', 'b', 'c'], { results: 'any' })).toEqual(['', '', '!'])
  })

  it('are those of the tool, whatever a listener makes of them', async () => {
    await using harness = await stage({ results: 'unchanged' })
    let calls = 0
    harness.ctx.on('tools/post-execute', async (_exec, _result, next) => ({
      ...(await next()),
      content: [{ type: 'text', text: `${++calls}` }],
    }))
    const agent = harness.agent()
    const results = []
    for (let call = 0; call < 3; call++) results.push(await execute(harness.ctx, CALLS.A, { agent }))
    expect(results.map(({ additionalContexts = [] }) => additionalContexts.length)).toEqual([0, 0, 1])
  })

  it('that are none leave the call to decide, and are no fault', async () => {
    await using harness = await stage({ results: 'unchanged' })
    const agent = harness.agent()
    const accepted = { kind: 'accept' }
    const decisions: unknown[] = []
    for (const result of [undefined, null, {}, { content: [] }, { content: [] }])
      decisions.push(await postExecute(harness.ctx, { ...CALLS.A, agent }, result, () => accepted))
    expect(decisions.map((decision) => decision === accepted)).toEqual([true, true, false, true, false])
    expect(harness.log).toEqual([])
  })

  it('that cannot be read are a fault that is logged, and the call goes on', async () => {
    await using harness = await stage({ results: 'unchanged' })
    const agent = harness.agent()
    const accepted = { kind: 'accept' }
    const result = {
      get content(): never {
        throw new Error('not for you')
      },
    }
    expect(await postExecute(harness.ctx, { ...CALLS.A, agent }, result, () => accepted)).toBe(accepted)
    expect(harness.log.map(({ name }) => name)).toEqual(['repeat-tool-reminder'])
  })
})
