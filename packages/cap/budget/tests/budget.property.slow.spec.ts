import type { Config } from '@loopguard/budget'
import * as budget from '@loopguard/budget'
import { CallId, createUserMessage, text } from '@loopguard/llm'
import type { ScriptedReply } from '@loopguard/testkit'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type CallKind, outcomeOf, type Outcome, type PlannedStep, type PlannedTurn } from './oracle.ts'
import { ends, reached, results, stage, tool } from './stage.ts'

const kinds: CallKind[] = ['look', 'other', 'note', 'fails', 'nowhere', 'malformed', 'secret', 'outer']
const step = fc.record<PlannedStep>({
  failed: fc.constantFrom(0, 0, 0, 1, 2),
  calls: fc.array(fc.oneof(fc.constant<CallKind>('look'), fc.constantFrom(...kinds)), { minLength: 1, maxLength: 4 }),
  tokens: fc.nat({ max: 50 }),
})
const turn = fc.record<PlannedTurn>({
  from: fc.constantFrom('user', 'plugin'),
  reload: fc.constantFrom(false, false, true),
  steps: fc.array(step, { maxLength: 5 }),
})
const limit = (max: number) => fc.option(fc.integer({ min: 1, max }), { nil: undefined })
const config = fc
  .record({
    maxStepsPerTurn: limit(6),
    maxCallsPerTurn: limit(8),
    maxTokensPerTurn: limit(150),
    maxStepsPerAgent: limit(12),
    maxCallsPerAgent: limit(16),
    maxTokensPerAgent: limit(300),
    maxEqualCalls: limit(3),
  })
  .filter((limits) => Object.values(limits).some((value) => value !== undefined))

const argumentsOf = (call: CallKind): unknown => (call === 'malformed' ? '{"a":' : {})

/** What the real loop comes to. */
async function run(limits: Config, turns: readonly PlannedTurn[], maxParallelToolCalls: number): Promise<Outcome> {
  let steps: PlannedStep[] = []
  let failures = 0
  const answer = (): ScriptedReply => {
    const [next] = steps
    if (next === undefined) return { text: 'done', usage: { inputTokens: 0, outputTokens: 0 } }
    if (failures < next.failed) {
      failures++
      return { finish: { kind: 'error', failure: { message: 'busy', code: 'BUSY' } } }
    }
    failures = 0
    steps = steps.slice(1)
    const usage = { inputTokens: Math.floor(next.tokens / 2), outputTokens: Math.ceil(next.tokens / 2) }
    return { calls: next.calls.map((call) => ({ name: call, arguments: argumentsOf(call) })), usage }
  }
  const safe = { isConcurrencySafe: () => true }
  const outer = tool('outer', {
    execute: async (_args, { agent, token, signal }) => {
      const inner = { callId: CallId('inner'), name: 'look', arguments: {}, signal, agent, parent: token }
      return String((await ctx.tools.execute(inner)).isError)
    },
  })
  const tools = [tool('other', safe), tool('note', safe), tool('malformed', { parameters: { type: 'object' } }), tool('secret'), outer]
  const fails = tool('fails', { execute: () => Promise.reject(new Error('broken')) })
  const settings = { ...limits, exclude: ['note'] }
  const { agent1, model, ctx, unload } = await stage(settings, {
    script: Array.from({ length: 200 }, () => answer),
    loop: { maxParallelToolCalls },
    tools: [...tools, fails],
  })
  ctx.tools.guard(({ name }) => (name === 'secret' ? 'it is secret' : undefined))
  ctx.on('agent/request-error', async () => ({ kind: 'retry' }))
  let cap = unload
  for (const each of turns) {
    if (each.reload) {
      await cap()
      const loaded = ctx.plugin(budget, settings)
      await loaded
      cap = () => loaded.ctx.fiber.dispose()
    }
    ;[steps, failures] = [[...each.steps], 0]
    const source = each.from === 'user' ? ({ kind: 'user' } as const) : ({ kind: 'plugin', plugin: 'note' } as const)
    agent1.followup(createUserMessage({ content: [text('go on')], source }))
    await agent1.whenIdle()
  }
  const calls = results(agent1).map((said) => /\(budget\.(\w+)\)$/.exec(said)?.[1] ?? 'ran')
  return { requests: model.count, reached: reached(agent1), calls, ends: ends(agent1) }
}

it('whatever the model does, it gets as many steps, calls and tokens as the limits allow, no more and no less, and the log says which', async () => {
  await fc.assert(
    fc.asyncProperty(
      config,
      fc.array(turn, { minLength: 1, maxLength: 5 }),
      fc.integer({ min: 1, max: 3 }),
      async (limits, turns, parallel) => {
        expect(await run(limits, turns, parallel)).toEqual(outcomeOf(limits, turns))
      },
    ),
    { numRuns: 80 },
  )
})

it('a later turn that is blocked keeps its message, so that none is lost and none is read twice', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 7 }), async (maxStepsPerAgent, messages) => {
      const { agent1, model, say } = await stage({ maxStepsPerAgent }, { script: [{ text: 'ok', repeat: Infinity }] })
      for (let index = 0; index < messages; index++) await say(agent1, `message ${index}`)
      const read = model.requests.at(-1)?.messages.filter(({ role }) => role === 'user').length ?? 0
      expect(read + agent1.inbox.nextTurn.length).toBe(messages)
      expect(model.count).toBe(Math.min(messages, maxStepsPerAgent))
    }),
    { numRuns: 25 },
  )
})
