import * as budget from '@loopguard/budget'
import * as budgetInvariant from '@loopguard/budget/invariant'
import { createHarness } from '@loopguard/testkit'
import * as goal from '@loopguard/goal'
import { expect, it, onTestFinished } from 'vitest'
import { call, creates, rounds, stage, stops, story } from './support.ts'

const look = { calls: [{ name: 'look', arguments: {} }], repeat: Infinity }
const tools = [{ name: 'look', description: '', parameters: {}, execute: () => 'ok' }]

it('a cap of each turn pauses the goal in the first round that reaches it', async () => {
  const harness = await stage({
    plugins: [[budget, { maxStepsPerTurn: 3 }], budgetInvariant],
    tools,
    script: [creates(), { text: 'set' }, look],
  })
  const agent = harness.agent()
  await harness.say(agent, 'go')
  expect(story(agent).slice(2)).toEqual(['goal-1 #1: Round 1 of 256', 'ended blocked', 'goal-1 is paused: blocked'])
})

it('a cap of the agent keeps the round in the inbox; lifted and armed, that very round runs, once', async () => {
  const harness = await createHarness({ plugins: [goal], script: [creates('a', { maxRounds: 2 }), stops()] })
  onTestFinished(() => harness.dispose())
  const cap = harness.ctx.plugin(budget, { maxStepsPerAgent: 2 })
  await cap
  const agent = harness.agent()
  await harness.say(agent, 'go')
  expect(story(agent).slice(2)).toEqual(['ended blocked', 'goal-1 is paused: blocked'])
  const [kept] = agent.inbox.nextTurn
  expect(kept?.source).toEqual({ kind: 'goal', goalId: 'goal-1', round: 1 })
  await cap.dispose()
  await call(harness, 'update_goal', { phase: 'active' }, agent)
  await new Promise((resolve) => setImmediate(resolve))
  await agent.whenIdle()
  expect(rounds(agent)).toBe(2)
  expect(agent.session.events.filter(({ type, data }) => type === 'user/message' && data.id === kept!.id)).toHaveLength(1)
  expect(story(agent).at(-1)).toBe('goal-1 is blocked: round-limit')
})
