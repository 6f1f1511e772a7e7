import { createUserMessage, text, type UserMessage } from '@loopguard/llm'
import { userMessage } from '@loopguard/testkit'
import { describe, expect, it } from 'vitest'
import { countOf, ends, forEver, looks, reached, restless, stage } from './stage.ts'

const note = (said: string): UserMessage => createUserMessage({ content: [text(said)], source: { kind: 'plugin', plugin: 'note' } })

describe('maxStepsPerTurn', () => {
  it('10, and a model that never stops: exactly ten requests, then `blocked`, idle', async () => {
    const { agent1, model, say } = await stage({ maxStepsPerTurn: 10 }, { script: forEver(restless()) })
    await say(agent1, 'go')
    expect(model.count).toBe(10)
    expect(countOf(agent1, 'step/start')).toBe(10)
    expect([ends(agent1), reached(agent1), agent1.status]).toEqual([['blocked'], ['1.11 maxStepsPerTurn 10'], 'idle'])
  })

  it('lets a turn have that many steps and end by itself: the limit is not reached', async () => {
    const { agent1, say } = await stage({ maxStepsPerTurn: 2 }, { script: [looks(), { text: 'done' }] })
    await say(agent1, 'go')
    expect([ends(agent1), reached(agent1)]).toEqual([['completed'], []])
  })

  it('counts anew in each turn, and says each time that it was reached', async () => {
    const { agent1, model, say } = await stage({ maxStepsPerTurn: 2 }, { script: forEver(restless()) })
    for (const words of ['one', 'two', 'three']) await say(agent1, words)
    expect(model.count).toBe(6)
    expect(reached(agent1)).toEqual(['1.3 maxStepsPerTurn 2', '2.3 maxStepsPerTurn 2', '3.3 maxStepsPerTurn 2'])
  })

  it('a message that is steered into the turn does not give it more steps, and waits for the next turn', async () => {
    const { agent1, model, say, ctx } = await stage(
      { maxStepsPerTurn: 2 },
      { script: [...forEver(restless()).slice(0, 2), { text: 'ok' }] },
    )
    ctx.on('tools/result', () => {
      if (model.count === 2) {
        agent1.steer(note('go on'))
        agent1.steer(userMessage('and on'))
      }
    })
    await say(agent1, 'go')
    expect([model.count, ends(agent1), agent1.inbox.nextStep.length]).toEqual([2, ['blocked'], 2])
    await say(agent1, 'next')
    expect(model.requests[2]?.messages.slice(-3).map(({ content }) => content)).toEqual([
      [{ type: 'text', text: 'go on' }],
      [{ type: 'text', text: 'and on' }],
      [{ type: 'text', text: 'next' }],
    ])
  })

  it('stops a listener of agent/turn-stopping that adds a step for ever', async () => {
    const { agent1, model, say, ctx } = await stage({ maxStepsPerTurn: 5 }, { script: [{ text: 'done', repeat: Infinity }] })
    ctx.on('agent/turn-stopping', () => agent1.steer(note('one more thing')))
    await say(agent1, 'go')
    expect([model.count, ends(agent1), agent1.inbox.nextStep.length]).toEqual([5, ['blocked'], 1])
  })

  it('a retry within a step is no further step', async () => {
    const failing = { finish: { kind: 'error' as const, failure: { message: 'busy', code: 'BUSY' } } }
    const { agent1, model, say, ctx } = await stage({ maxStepsPerTurn: 2 }, { script: [failing, failing, ...forEver(restless())] })
    ctx.on('agent/request-error', async () => ({ kind: 'retry' }))
    await say(agent1, 'go')
    expect([model.count, countOf(agent1, 'step/start'), ends(agent1)]).toEqual([4, 2, ['blocked']])
  })

  it('a step that failed counts, and the turn it ended says so', async () => {
    const { agent1, model, say } = await stage({ maxStepsPerAgent: 2 }, { script: [looks(), 'hang' as const] })
    agent1.followup(userMessage('go'))
    while (model.count < 2) await new Promise(setImmediate)
    agent1.cancel()
    await agent1.whenIdle()
    await say(agent1, 'again')
    expect([ends(agent1), reached(agent1)]).toEqual([['aborted {"kind":"user"}', 'blocked'], ['2.1 maxStepsPerAgent 2']])
  })
})

describe('maxStepsPerAgent', () => {
  it('counts over turns: the turn that reaches it is blocked, and each later one before its first step', async () => {
    const { agent1, model, say } = await stage({ maxStepsPerAgent: 3 }, { script: [looks('a'), { text: 'one' }, ...forEver(restless())] })
    await say(agent1, 'one')
    await say(agent1, 'two')
    await say(agent1, 'three')
    await say(agent1, 'four')
    expect([model.count, ends(agent1)]).toEqual([3, ['completed', 'blocked', 'blocked', 'blocked']])
  })

  it('is told once for the agent, however many turns it blocks', async () => {
    const { agent1, say } = await stage({ maxStepsPerAgent: 1 }, { script: forEver(restless()) })
    for (const words of ['one', 'two', 'three']) await say(agent1, words)
    expect(reached(agent1)).toEqual(['1.2 maxStepsPerAgent 1'])
  })

  it('what is sent after it was reached waits, wakes the agent, is stopped at once, and spins not', async () => {
    const { agent1, model, say } = await stage({ maxStepsPerAgent: 1 }, { script: [{ text: 'ok' }] })
    await say(agent1, 'one')
    const { length } = agent1.session.events
    await say(agent1, 'two')
    expect(agent1.session.events.slice(length).map(({ type }) => type)).toEqual([
      'inbox/queued',
      'turn/start',
      'budget/reached',
      'turn/end',
    ])
    await say(agent1, 'three')
    expect(agent1.session.events.slice(length + 4).map(({ type }) => type)).toEqual(['inbox/queued', 'turn/start', 'turn/end'])
    expect([model.count, agent1.inbox.nextTurn.length, agent1.status]).toEqual([1, 2, 'idle'])
  })

  it('each agent has its own', async () => {
    const { agent1, model, say, agent } = await stage({ maxStepsPerAgent: 2 }, { script: forEver(restless()) })
    const other = agent()
    await Promise.all([say(agent1, 'go'), say(other, 'go')])
    expect([model.count, ends(agent1), ends(other)]).toEqual([4, ['blocked'], ['blocked']])
  })

  it('a child has its own', async () => {
    const { agent1, model, say } = await stage({ maxStepsPerAgent: 2 }, { script: forEver(restless()) })
    await say(agent1, 'go')
    const child = agent1.ctx.agentLoop.create('child' as never, { provider: 'scripted', model: 'any' })
    await say(child, 'go')
    expect([model.count, reached(agent1), reached(child)]).toEqual([4, ['1.3 maxStepsPerAgent 2'], ['1.3 maxStepsPerAgent 2']])
  })
})

it('limits that are reached before the same step are all told, in one order', async () => {
  const usage = { inputTokens: 40, outputTokens: 10 }
  const { agent1, say } = await stage(
    { maxTokensPerAgent: 100, maxStepsPerAgent: 2, maxTokensPerTurn: 100, maxStepsPerTurn: 2 },
    { script: forEver(restless({ usage })) },
  )
  await say(agent1, 'go')
  expect(reached(agent1)).toEqual([
    '1.3 maxStepsPerTurn 2',
    '1.3 maxTokensPerTurn 100',
    '1.3 maxStepsPerAgent 2',
    '1.3 maxTokensPerAgent 100',
  ])
})
