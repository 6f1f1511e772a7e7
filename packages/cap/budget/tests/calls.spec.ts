import * as repeatToolReminder from '@loopguard/repeat-tool-reminder'
import { CallId, createUserMessage, text, type UserMessage } from '@loopguard/llm'
import type { ScriptedAnswer } from '@loopguard/testkit'
import { describe, expect, it } from 'vitest'
import { countOf, denial, ends, forEver, looks, reached, restless, results, stage, tool } from './stage.ts'

const note = (said: string): UserMessage => createUserMessage({ content: [text(said)], source: { kind: 'plugin', plugin: 'note' } })
const batch = (...words: string[]): ScriptedAnswer => ({ calls: words.map((word) => ({ name: 'look', arguments: { word } })) })
const stop = { text: 'done' }
const DONE = 'look is done'

describe('maxCallsPerTurn', () => {
  it('40: the 41st call is denied, to the letter, and the model may go on without calls', async () => {
    const { agent1, say } = await stage({ maxCallsPerTurn: 40 }, { script: [...forEver(restless()).slice(0, 41), stop] })
    await say(agent1, 'go')
    expect(results(agent1)).toEqual([
      ...Array.from({ length: 40 }, () => DONE),
      denial('40 tool calls in this turn (budget.maxCallsPerTurn)'),
    ])
    expect([ends(agent1), reached(agent1)]).toEqual([['completed'], ['1.41 maxCallsPerTurn 40']])
  })

  it('of one says so in the singular', async () => {
    const { agent1, say } = await stage({ maxCallsPerTurn: 1 }, { script: [batch('a', 'b'), stop] })
    await say(agent1, 'go')
    expect(results(agent1)).toEqual([DONE, denial('1 tool call in this turn (budget.maxCallsPerTurn)')])
  })

  it('counts calls, not steps: a batch that crosses it is cut in the middle, in the order of the model', async () => {
    const { agent1, say } = await stage({ maxCallsPerTurn: 4 }, { script: [batch('a', 'b', 'c'), batch('d', 'e', 'f'), stop] })
    await say(agent1, 'go')
    const no = denial('4 tool calls in this turn (budget.maxCallsPerTurn)')
    expect(results(agent1)).toEqual([DONE, DONE, DONE, DONE, no, no])
    expect(reached(agent1)).toEqual(['1.2 maxCallsPerTurn 4'])
  })

  it('cuts a batch whose bodies overlap at the same place, whatever finishes first', async () => {
    const bodies: (() => void)[] = []
    const slow = tool('slow', {
      isConcurrencySafe: () => true,
      execute: () => new Promise<string>((resolve) => void bodies.push(() => resolve('slow is done'))),
    })
    const { agent1, say, ctx } = await stage(
      { maxCallsPerTurn: 2 },
      { tools: [slow], script: [{ calls: [1, 2, 3, 4].map((n) => ({ name: 'slow', arguments: { n } })) }, stop] },
    )
    ctx.on('session/event', (_session, { type }) => {
      if (type === 'tool/call' && bodies.length === 2) for (const settle of bodies.splice(0).toReversed()) queueMicrotask(settle)
    })
    await say(agent1, 'go')
    const no = denial('2 tool calls in this turn (budget.maxCallsPerTurn)')
    expect(results(agent1)).toEqual(['slow is done', 'slow is done', no, no])
  })

  it('counts what is denied, unknown, malformed, or fails', async () => {
    const { agent1, say, ctx } = await stage(
      { maxCallsPerTurn: 4 },
      {
        tools: [tool('strict', { parameters: { type: 'object' } }), tool('fails', { execute: () => Promise.reject(new Error('broken')) })],
        script: [
          {
            calls: [
              { name: 'secret', arguments: {} },
              { name: 'nowhere', arguments: {} },
              { name: 'strict', arguments: '{"a":' },
              { name: 'fails', arguments: {} },
              { name: 'look', arguments: {} },
            ],
          },
          stop,
        ],
      },
    )
    ctx.tools.register(tool('secret'))
    ctx.tools.guard(({ name }) => (name === 'secret' ? 'it is secret' : undefined))
    await say(agent1, 'go')
    expect(results(agent1).map((said) => said.split(' ')[0])).toEqual(['DENIED', 'UNKNOWN_TOOL', 'INVALID_ARGS', 'Error:', 'DENIED'])
    expect(reached(agent1)).toEqual(['1.1 maxCallsPerTurn 4'])
  })

  it('its own denials count, and are told once a turn', async () => {
    const { agent1, say } = await stage(
      { maxCallsPerTurn: 1, maxCallsPerAgent: 4 },
      { script: [batch('a', 'b', 'c'), stop, batch('d', 'e'), stop] },
    )
    await say(agent1, 'one')
    await say(agent1, 'two')
    const no = denial('1 tool call in this turn (budget.maxCallsPerTurn)')
    expect(results(agent1)).toEqual([DONE, no, no, DONE, no])
    expect(reached(agent1)).toEqual(['1.1 maxCallsPerTurn 1', '2.1 maxCallsPerTurn 1', '2.1 maxCallsPerAgent 4'])
  })

  it('counts anew in the next turn', async () => {
    const { agent1, say } = await stage({ maxCallsPerTurn: 2 }, { script: [batch('a', 'b'), stop, batch('c', 'd'), stop] })
    await say(agent1, 'one')
    await say(agent1, 'two')
    expect([results(agent1), reached(agent1)]).toEqual([[DONE, DONE, DONE, DONE], []])
  })

  it('a call that one tool makes of another neither counts nor is denied', async () => {
    const outer = tool('outer', {
      execute: async (_args, { agent, token, signal }) => {
        const inner = { callId: CallId('inner'), name: 'look', arguments: {}, signal, agent, parent: token }
        const done = [await ctx.tools.execute(inner), await ctx.tools.execute(inner), await ctx.tools.execute(inner)]
        return done.map(({ isError }) => (isError ? 'no' : 'yes')).join()
      },
    })
    const { agent1, say, ctx } = await stage(
      { maxCallsPerTurn: 2, maxEqualCalls: 2 },
      {
        tools: [outer],
        script: [
          { calls: [{ name: 'outer', arguments: { n: 1 } }] },
          { calls: [{ name: 'outer', arguments: { n: 2 } }] },
          batch('a'),
          stop,
        ],
      },
    )
    await say(agent1, 'go')
    expect(results(agent1)).toEqual(['yes,yes,yes', 'yes,yes,yes', denial('2 tool calls in this turn (budget.maxCallsPerTurn)')])
  })

  it('calls that were cancelled before they started count, and are not denied', async () => {
    const { agent1, say, ctx } = await stage({ maxCallsPerAgent: 3 }, { script: [batch('a', 'b', 'c'), batch('d'), stop] })
    ctx.on('tools/execute', (_exec, next) => {
      agent1.cancel()
      return next()
    })
    await say(agent1, 'go')
    expect(results(agent1).map((said) => said.split(' ')[0])).toEqual(Array.from({ length: 3 }, () => 'ABORTED_BEFORE_DISPATCH'))
    await say(agent1, 'again')
    expect(results(agent1).at(-1)).toBe(denial('3 tool calls by this agent (budget.maxCallsPerAgent)'))
  })
})

describe('maxCallsPerAgent', () => {
  it('counts over turns', async () => {
    const { agent1, say } = await stage({ maxCallsPerAgent: 3 }, { script: [batch('a', 'b'), stop, batch('c', 'd'), stop] })
    await say(agent1, 'one')
    await say(agent1, 'two')
    expect(results(agent1)).toEqual([DONE, DONE, DONE, denial('3 tool calls by this agent (budget.maxCallsPerAgent)')])
  })

  it('is told once for the agent', async () => {
    const { agent1, say } = await stage({ maxCallsPerAgent: 1 }, { script: [batch('a', 'b', 'c'), stop, batch('d'), stop] })
    await say(agent1, 'one')
    await say(agent1, 'two')
    expect(reached(agent1)).toEqual(['1.1 maxCallsPerAgent 1'])
  })
})

describe('include and exclude', () => {
  it('calls of a tool that is excluded neither count nor are denied, and do not end a run', async () => {
    const mixed = { calls: ['note', 'look', 'note', 'look', 'note', 'look', 'note'].map((name) => ({ name, arguments: {} })) }
    const { agent1, say } = await stage(
      { maxCallsPerTurn: 5, maxEqualCalls: 2, exclude: ['no*'] },
      { tools: [tool('note')], script: [mixed, stop] },
    )
    await say(agent1, 'go')
    expect(results(agent1)).toEqual([
      'note is done',
      DONE,
      'note is done',
      DONE,
      'note is done',
      denial('2 equal calls in a row (budget.maxEqualCalls)'),
      'note is done',
    ])
  })

  it('with `include`, only calls of those tools count', async () => {
    const mixed = { calls: ['note', 'look', 'note', 'look'].map((name, n) => ({ name, arguments: { n } })) }
    const { agent1, say } = await stage({ maxCallsPerTurn: 1, include: ['look'] }, { tools: [tool('note')], script: [mixed, stop] })
    await say(agent1, 'go')
    expect(results(agent1)).toEqual(['note is done', DONE, 'note is done', denial('1 tool call in this turn (budget.maxCallsPerTurn)')])
  })
})

describe('maxEqualCalls', () => {
  it('5: the sixth equal call is denied, to the letter, counts in the chain, and the log says who denied it', async () => {
    const { agent1, say } = await stage(
      { maxEqualCalls: 5 },
      { script: [...Array.from({ length: 8 }, () => looks()), stop], plugins: [[repeatToolReminder, { thresholds: [6, 8] }]] },
    )
    await say(agent1, 'go')
    const no = denial('5 equal calls in a row (budget.maxEqualCalls)')
    expect(results(agent1)).toEqual([DONE, DONE, DONE, DONE, DONE, no, no, no])
    expect(reached(agent1)).toEqual(['1.6 maxEqualCalls 5'])
    // The reminder counts the denied calls too.
    const reminders = agent1.session.events.filter(({ type, data }) => type === 'user/message' && data.source.kind === 'plugin')
    expect(reminders).toHaveLength(2)
  })

  it('another call ends the run, and so does a message of the user, but not one of a plugin', async () => {
    const { agent1, say, ctx } = await stage(
      { maxEqualCalls: 2 },
      { script: [looks('a'), looks('a'), looks('b'), looks('a'), looks('a'), stop, looks('a'), looks('a'), stop, looks('a'), stop] },
    )
    await say(agent1, 'one')
    await say(agent1, 'two')
    ctx.on('tools/pre-execute', (_exec, next) => next())
    agent1.followup(note('go on'))
    await agent1.whenIdle()
    expect(results(agent1)).toEqual([DONE, DONE, DONE, DONE, DONE, DONE, DONE, denial('2 equal calls in a row (budget.maxEqualCalls)')])
  })

  it('after a denial another call is free, and the first one may be made as often again', async () => {
    const { agent1, say } = await stage(
      { maxEqualCalls: 1 },
      { script: [...['a', 'a', 'a', 'b', 'a', 'a'].map((word) => looks(word)), stop] },
    )
    await say(agent1, 'go')
    const no = denial('1 equal call in a row (budget.maxEqualCalls)')
    expect(results(agent1)).toEqual([DONE, no, no, DONE, DONE, no])
  })

  it('arguments are equal whatever the order of their keys, and malformed ones are compared as text', async () => {
    const call = (args: unknown): ScriptedAnswer => ({ calls: [{ name: 'look', arguments: args }] })
    const { agent1, say } = await stage(
      { maxEqualCalls: 1 },
      { script: [call('{"x":1,"y":2}'), call('{"y":2,"x":1}'), call('{"a":'), call('{"a":'), stop] },
    )
    await say(agent1, 'go')
    expect(results(agent1).map((said) => said.split(' ')[0])).toEqual(['look', 'DENIED', 'look', 'DENIED'])
  })

  it('is a run of each agent', async () => {
    const { agent1, say, agent } = await stage({ maxEqualCalls: 2 }, { script: [looks(), looks(), looks(), looks(), stop, stop] })
    const other = agent()
    await Promise.all([say(agent1, 'go'), say(other, 'go')])
    expect([...results(agent1), ...results(other)]).toEqual([DONE, DONE, DONE, DONE])
  })

  it('is told in each turn in which it denies', async () => {
    const { agent1, say } = await stage({ maxEqualCalls: 1 }, { script: [looks(), looks(), stop, looks(), stop] })
    await say(agent1, 'one')
    agent1.followup(note('go on'))
    await agent1.whenIdle()
    expect(reached(agent1)).toEqual(['1.2 maxEqualCalls 1', '2.1 maxEqualCalls 1'])
  })
})

describe('several limits of calls at once', () => {
  it('the model reads of the first, and the log has all', async () => {
    const { agent1, say } = await stage(
      { maxEqualCalls: 2, maxCallsPerAgent: 2, maxCallsPerTurn: 2 },
      { script: [looks(), looks(), looks(), stop] },
    )
    await say(agent1, 'go')
    expect(results(agent1).at(-1)).toBe(denial('2 tool calls in this turn (budget.maxCallsPerTurn)'))
    expect(reached(agent1)).toEqual(['1.3 maxCallsPerTurn 2', '1.3 maxCallsPerAgent 2', '1.3 maxEqualCalls 2'])
  })

  it('a model that goes on calling is denied each time, and a limit of steps stops it', async () => {
    const { agent1, model, say } = await stage({ maxCallsPerTurn: 2, maxStepsPerTurn: 6 }, { script: forEver(restless()) })
    await say(agent1, 'go')
    expect([model.count, ends(agent1), countOf(agent1, 'tool/call')]).toEqual([6, ['blocked'], 6])
    expect(reached(agent1)).toEqual(['1.3 maxCallsPerTurn 2', '1.7 maxStepsPerTurn 6'])
  })
})

describe('a call that a plugin makes itself for an agent', () => {
  it('is in no log and counts in none, and is judged all the same', async () => {
    const { agent1, say, ctx } = await stage({ maxCallsPerAgent: 2 }, { script: [batch('a', 'b'), stop] })
    const own = async (): Promise<boolean> => {
      const { signal } = new AbortController()
      return (await ctx.tools.execute({ callId: CallId('own'), name: 'look', arguments: {}, signal, agent: agent1 })).isError
    }
    expect([await own(), await own(), await own()]).toEqual([false, false, false])
    await say(agent1, 'go')
    expect([await own(), results(agent1)]).toEqual([true, [DONE, DONE]])
  })

  it('of no agent, or of one without a log, is not judged', async () => {
    const { agent1, say, ctx } = await stage({ maxCallsPerAgent: 1, maxEqualCalls: 1 }, { script: [batch('a', 'b'), stop] })
    await say(agent1, 'go')
    const { signal } = new AbortController()
    const call = { callId: CallId('own'), name: 'look', arguments: {}, signal }
    const stranger = { id: agent1.id, ctx: agent1.ctx }
    const all = [call, call, { ...call, agent: stranger }, { ...call, agent: stranger }]
    for (const each of all) expect((await ctx.tools.execute(each)).isError).toBe(false)
  })

  it('between two turns is no call of a turn', async () => {
    const { agent1, say, ctx } = await stage({ maxCallsPerTurn: 1 }, { script: [batch('a', 'b'), stop] })
    await say(agent1, 'go')
    const { signal } = new AbortController()
    expect((await ctx.tools.execute({ callId: CallId('own'), name: 'look', arguments: {}, signal, agent: agent1 })).isError).toBe(false)
  })
})
