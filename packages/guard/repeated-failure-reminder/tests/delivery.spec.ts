import { createUserMessage, text } from '@loopguard/llm'
import * as guard from '@loopguard/repeated-failure-reminder'
import { describe, expect, it } from 'vitest'
import { both, execute, heard, isReminder, play, postExecute, stage, textOf } from './stage.ts'

const fail = { name: 'nobody', arguments: { at: 1 } }

describe('the reminder', () => {
  it('is one message of the plugin, read with the next request, frozen through and through', async () => {
    await using harness = await stage()
    const agent = harness.agent()
    await play(harness, agent, 'A x A x A')
    const [message] = harness.model.requests.at(-1)?.messages.filter((each) => each.role === 'user' && isReminder(each as never)) ?? []
    expect(message).toEqual({
      id: expect.any(String) as string,
      role: 'user',
      content: [
        {
          type: 'text',
          text: `This call has failed 3 times with the same error. What was done in between did not change that.
- tool: a
- arguments: {}
- error: Error: no A
Before making it again, find out what the error asks for; change the call or its cause, or say that you are blocked.`,
        },
      ],
      source: { kind: 'plugin', plugin: 'repeated-failure-reminder' },
    })
    expect([message, message?.content, message?.content[0], message?.source].every(Object.isFrozen)).toBe(true)
    expect(harness.model.requests.map(({ messages }) => messages.filter((each) => isReminder(each as never)).length)).toEqual([
      0, 0, 0, 0, 0, 1,
    ])
  })

  it('stands first among the contexts of a decision, accepted or blocked, and leaves the rest', async () => {
    for (const kind of ['accept', 'block'] as const) {
      await using harness = await stage([guard])
      const agent = harness.agent()
      const other = createUserMessage({ content: [text('other')], source: { kind: 'plugin', plugin: 'other' } })
      harness.ctx.on('tools/post-execute', async () =>
        kind === 'accept' ? { kind, additionalContexts: [other] } : { kind, feedback: [text('no')], additionalContexts: [other] },
      )
      for (let call = 1; call < 3; call++) await execute(harness.ctx, fail, { agent })
      const third = await execute(harness.ctx, fail, { agent })
      expect(third.additionalContexts?.map(isReminder)).toEqual([true, false])
      expect(third.content).toEqual([text(kind === 'block' ? 'no' : 'Error: unknown tool "nobody"')])
    }
  })

  it('changes no result, and vetoes and replaces nothing', async () => {
    const told: unknown[] = []
    for (const plugins of [[], [guard], both]) {
      await using harness = await stage(plugins)
      const agent = harness.agent()
      await play(harness, agent, 'A x A AAx A 1 2 A')
      told.push(
        agent.session.events.flatMap(({ type, data }): unknown[] =>
          type === 'tool/result' ? [[data.message.content, data.error]] : type === 'tool/call' ? [[data.name, data.arguments]] : [],
        ),
      )
      expect(agent.session.events.at(-1)).toMatchObject({ type: 'turn/end', data: { reason: { kind: 'completed' } } })
    }
    const ids = (value: unknown): string => JSON.stringify(value).replaceAll(/"toolCallId":"[^"]+"/g, '')
    expect(new Set(told.map(ids)).size).toBe(1)
  })

  it('delays nothing: a decision with none due is the very promise that came', async () => {
    await using harness = await stage()
    const decision = Promise.resolve({ kind: 'accept' })
    const agent = harness.agent()
    const review = postExecute(harness.ctx, { ...fail, agent }, { isError: true, content: [] }, () => decision)
    expect(review).toBe(decision)
  })

  it('is shown with the text of a block that is no text', async () => {
    await using harness = await stage()
    const agent = harness.agent()
    const result = { isError: true, content: [{ type: 'image', url: 'x' }, text('no')] }
    const accept = (): unknown => Promise.resolve({ kind: 'accept' })
    await postExecute(harness.ctx, { ...fail, agent }, result, accept)
    await postExecute(harness.ctx, { ...fail, agent }, result, accept)
    const { additionalContexts = [] } = await postExecute(harness.ctx, { ...fail, agent }, result, accept)
    expect(additionalContexts.map((each) => textOf(each).split('\n')[3])).toEqual(['- error: {"type":"image","url":"x"}\\u000ano'])
  })
})

describe('after it is unloaded', () => {
  it('nothing of it is left: no listener, and no reminder', async () => {
    await using harness = await stage([])
    const { ctx } = harness
    const counts = (): number[] =>
      ['tools/post-execute', 'agent/pre-step', 'session/event'].map((event) => ctx.events._hooks[event]?.length ?? 0)
    const before = counts()
    const fiber = await ctx.plugin(guard)
    expect(counts()).toEqual(before.map((count) => count + 1))
    const agent = harness.agent()
    await play(harness, agent, 'A x A')
    await fiber.dispose()
    expect(counts()).toEqual(before)
    await play(harness, agent, 'A A', 'P')
    await ctx.plugin(guard)
    await play(harness, agent, 'A A', 'P')
    expect(heard(agent)).toBe('A x A A A A A')
  })

  it('and loaded again, it is there once, and starts afresh', async () => {
    await using harness = await stage()
    const agent = harness.agent()
    await play(harness, agent, 'A A')
    const [fiber] = [...harness.ctx.registry.values()].flatMap((runtime) => (runtime.name === guard.name ? [...runtime.fibers] : []))
    await fiber?.restart()
    await play(harness, agent, 'A A A', 'P')
    expect(heard(agent)).toBe('A A A A A!')
  })
})
