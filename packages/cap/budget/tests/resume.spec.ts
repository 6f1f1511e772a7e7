import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as budget from '@loopguard/budget'
import type { SessionEvent } from '@loopguard/session'
import { fakeClock, gate, userMessage } from '@loopguard/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { denial, ends, forEver, hanging, looks, reached, restless, results, stage } from './stage.ts'

const stop = { text: 'done' }

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'budget-'))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  return path
}

/** As a process leaves the log that is killed now. */
async function killed(directory: string): Promise<string> {
  const later = await folder()
  await cp(join(directory, 'agent-1.jsonl'), join(later, 'agent-1.jsonl'))
  return later
}

describe('what an agent has used survives a resume', () => {
  it('steps, calls and tokens: it goes on where the one that lived on would', async () => {
    const limits = { maxStepsPerAgent: 6, maxCallsPerAgent: 4, maxTokensPerAgent: 600, exclude: ['note'] }
    const usage = { inputTokens: 90, outputTokens: 10 }
    const script = [looks('a', { usage }), looks('b', { usage }), { text: 'one', usage }]
    const more = forEver(restless({ usage }))
    const directory = await folder()
    const first = await stage(limits, { script: [...script, ...more], sessions: { directory } })
    await first.say(first.agent1, 'one')
    const later = await killed(directory)
    await first.say(first.agent1, 'two')

    const second = await stage(limits, { script: forEver(restless({ usage })), sessions: { directory: later }, resume: true })
    const agent = second.agent1
    await second.say(agent, 'two')
    const after = (events: readonly SessionEvent[]): string[] =>
      events.slice(events.findIndex(({ type }) => type === 'turn/end')).flatMap(({ type }) => (type.startsWith('inbox/') ? [] : [type]))
    expect(after(agent.session.events).join()).toBe(after(first.agent1.session.events).join())
    expect([reached(agent), results(agent), ends(agent)]).toEqual([reached(first.agent1), results(first.agent1), ends(first.agent1)])
    expect(reached(agent)).toEqual(['2.3 maxCallsPerAgent 4', '2.4 maxStepsPerAgent 6', '2.4 maxTokensPerAgent 600'])
  })

  it('what was told of the agent is not told again', async () => {
    const directory = await folder()
    const first = await stage({ maxStepsPerAgent: 1 }, { script: [stop], sessions: { directory } })
    await first.say(first.agent1, 'one')
    await first.say(first.agent1, 'two')
    const later = await killed(directory)
    const second = await stage({ maxStepsPerAgent: 1 }, { sessions: { directory: later }, resume: true })
    const agent = second.agent1
    await second.say(agent, 'three')
    expect([second.model.count, reached(agent), ends(agent)]).toEqual([0, ['2.1 maxStepsPerAgent 1'], ['completed', 'blocked', 'blocked']])
    // Both messages wait.
    expect(agent.inbox.nextTurn).toHaveLength(2)
  })

  it('a run of equal calls does not: it is in memory alone', async () => {
    const directory = await folder()
    const first = await stage({ maxEqualCalls: 2 }, { script: [looks(), looks(), stop], sessions: { directory } })
    await first.say(first.agent1, 'one')
    const later = await killed(directory)
    const second = await stage(
      { maxEqualCalls: 2 },
      { script: [looks(), looks(), looks(), stop], sessions: { directory: later }, resume: true },
    )
    const agent = second.agent1
    agent.steer({ ...userMessage('go on'), source: { kind: 'plugin', plugin: 'note' } })
    await agent.whenIdle()
    expect(results(agent).slice(2)).toEqual(['look is done', 'look is done', denial('2 equal calls in a row (budget.maxEqualCalls)')])
  })
})

describe('an agent whose process was killed', () => {
  it('has taken of the turn that was interrupted what passed up to its last event, not the pause', async () => {
    const clock = fakeClock()
    onTestFinished(() => clock.restore())
    const directory = await folder()
    const begun = gate()
    const script = [
      {
        calls: [
          { name: 'wait', arguments: {} },
          { name: 'look', arguments: {} },
        ],
      },
    ]
    const first = await stage(
      { maxAgentMs: 1_000 },
      { script: [async () => (await clock.advance(300), script[0]!)], tools: [hanging(begun)], sessions: { directory } },
    )
    first.agent1.followup(userMessage('go'))
    await begun.opened
    await clock.advance(100)
    first.agent1.inject(userMessage('by the way'))
    await clock.advance(50)
    const later = await killed(directory)
    first.agent1.cancel()
    await first.agent1.whenIdle()

    await clock.advance(5_000_000)
    const second = await stage({ maxAgentMs: 1_000 }, { script: ['hang'], sessions: { directory: later }, resume: true })
    const agent = second.agent1
    expect(ends(agent)).toEqual(['interrupted'])
    agent.followup(userMessage('go on'))
    await clock.advance(599)
    expect([agent.status, reached(agent)]).toEqual(['running', []])
    await clock.advance(1)
    await agent.whenIdle()
    expect([ends(agent)[1], reached(agent)]).toEqual(['aborted {"kind":"budget","limit":"maxAgentMs"}', ['2.1 maxAgentMs 1000']])
  })

  it('has used the steps and calls of that turn', async () => {
    const directory = await folder()
    const begun = gate()
    const script = [
      {
        calls: [
          { name: 'wait', arguments: {} },
          { name: 'look', arguments: {} },
        ],
      },
    ]
    const first = await stage({ maxCallsPerAgent: 2 }, { script, tools: [hanging(begun)], sessions: { directory } })
    first.agent1.followup(userMessage('go'))
    await begun.opened
    const later = await killed(directory)
    const second = await stage(
      { maxCallsPerAgent: 2, maxStepsPerAgent: 3 },
      { script: forEver(restless()), sessions: { directory: later }, resume: true },
    )
    const agent = second.agent1
    await second.say(agent, 'go on')
    // `wait` was started, the `look` beside it was not.
    expect(results(agent).map((said) => said.split(' ')[0])).toEqual(['TOOL_OUTCOME_UNKNOWN', 'TOOL_NOT_STARTED', 'look', 'DENIED'])
    expect([ends(agent), reached(agent)]).toEqual([
      ['interrupted', 'blocked'],
      ['2.2 maxCallsPerAgent 2', '2.3 maxStepsPerAgent 3'],
    ])
  })
})

describe('a log of another version', () => {
  it('may know limits that this one does not: they change nothing', async () => {
    const directory = await folder()
    const first = await stage({ maxStepsPerAgent: 2 }, { script: [stop], sessions: { directory } })
    await first.say(first.agent1, 'one')
    await first.agent1.dispose()
    const file = join(directory, 'agent-1.jsonl')
    const lines = await readFile(file, 'utf8')
    const seq = lines.trimEnd().split('\n').length
    const of = { turn: 1, step: 1, limit: 'maxMoney', value: 5 }
    await writeFile(file, `${lines}${JSON.stringify({ seq, time: Date.now(), type: 'budget/reached', data: of })}\n`)
    const second = await stage(
      { maxStepsPerAgent: 2 },
      { script: forEver(restless()), sessions: { directory: await killed(directory) }, resume: true },
    )
    const agent = second.agent1
    await second.say(agent, 'two')
    expect([second.model.count, reached(agent)]).toEqual([1, ['1.1 maxMoney 5', '2.2 maxStepsPerAgent 2']])
  })
})

describe('a cap that comes late, or is set anew', () => {
  it('counts what was used before it was loaded', async () => {
    const { agent1, model, say, unload, ctx } = await stage({ maxStepsPerAgent: 3 }, { script: [stop, stop, ...forEver(restless())] })
    await unload()
    await say(agent1, 'one')
    await say(agent1, 'two')
    await ctx.plugin(budget, { maxStepsPerAgent: 3 })
    await say(agent1, 'three')
    expect([model.count, ends(agent1)]).toEqual([3, ['completed', 'completed', 'blocked']])
  })

  it('with another value goes on from the same count, and is told again when that is reached', async () => {
    const { agent1, model, say, unload, ctx } = await stage({ maxStepsPerAgent: 2 }, { script: forEver(restless()) })
    await say(agent1, 'one')
    await unload()
    const loaded = ctx.plugin(budget, { maxStepsPerAgent: 5 })
    await loaded
    const { fiber } = loaded.ctx
    agent1.steer(userMessage('two'))
    await agent1.whenIdle()
    expect([model.count, reached(agent1)]).toEqual([5, ['1.3 maxStepsPerAgent 2', '2.4 maxStepsPerAgent 5']])
    fiber.update({ maxStepsPerAgent: 7 })
    await fiber.await()
    await say(agent1, 'three')
    expect([model.count, reached(agent1).at(-1)]).toEqual([7, '3.3 maxStepsPerAgent 7'])
  })

  it('in the middle of a call that hangs ends that turn', async () => {
    const clock = fakeClock()
    onTestFinished(() => clock.restore())
    const begun = gate()
    const waits = { calls: [{ name: 'wait', arguments: {} }] }
    const { agent1, unload, ctx } = await stage({ maxStepsPerAgent: 9 }, { script: [waits], tools: [hanging(begun)] })
    await unload()
    agent1.followup(userMessage('go'))
    await begun.opened
    await clock.advance(700)
    await ctx.plugin(budget, { maxTurnMs: 1_000 })
    await clock.advance(299)
    expect(agent1.status).toBe('running')
    await clock.advance(1)
    await agent1.whenIdle()
    expect(ends(agent1)).toEqual(['aborted {"kind":"budget","limit":"maxTurnMs"}'])
  })
})
