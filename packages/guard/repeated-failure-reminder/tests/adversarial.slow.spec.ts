import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as repeatToolReminder from '@loopguard/repeat-tool-reminder'
import * as guard from '@loopguard/repeated-failure-reminder'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { both, execute, heard, isReminder, isRepeatReminder, play, stage, textOf, userMessage } from './stage.ts'

// A busy machine takes its time.
vi.setConfig({ testTimeout: 60_000 })

describe('errors of ten megabytes', () => {
  it('are compared whole, masked, and shown cut', async () => {
    await using harness = await stage()
    const { ctx } = harness
    const agent = harness.agent()
    const noise = 'the quick brown fox jumps over line 12 of the lazy dog\n'.repeat(190_000)
    let end = ''
    ctx.tools.register({
      name: 'huge',
      description: '',
      parameters: {},
      execute: () => {
        throw new Error(`${noise}${end}`)
      },
    })
    expect(noise.length).toBeGreaterThan(10_000_000)
    const said: (string | undefined)[] = []
    for (end of ['at line 1', 'at line 2', 'in another file', 'at line 3', 'at line 4', 'at line 5']) {
      const { additionalContexts: [first] = [] } = await execute(ctx, { name: 'huge', arguments: {} }, { agent })
      said.push(first && textOf(first))
    }
    expect(said.map((text) => text !== undefined)).toEqual([false, false, false, false, false, true])
    expect(said.at(-1)?.length).toBeLessThan(900)
    expect(said.at(-1)).toMatch(/- error: Error: the quick .*… \(\+\d{8} more chars\)\n/)
  })
})

describe('a tool that takes turns', () => {
  it('between two errors is never reminded of, for no error comes twice in a row of that call', async () => {
    await using harness = await stage(both)
    const agent = harness.agent()
    await play(harness, agent, '1 x 2 x 1 x 2 x 1 x 2 x 1 x 2')
    expect(heard(agent)).not.toMatch(/[!?]/)
  })

  it('between success and failure neither', async () => {
    await using harness = await stage()
    const agent = harness.agent()
    await play(harness, agent, 'A x a x A x a x A x a x A')
    expect(heard(agent)).not.toContain('!')
  })
})

describe('conversations', () => {
  it('a user who speaks in the middle of a turn starts afresh, and the run of both guards', async () => {
    await using harness = await stage(both)
    const agent = harness.agent()
    const { outcomes, model } = harness
    outcomes.push('A', 'x', 'A', 'x', 'A', 'x', 'A')
    harness.ctx.on('tools/post-execute', (_exec, _result, next) => {
      if (outcomes.length === 3) agent.steer(userMessage())
      return next()
    })
    model.push(...['a', 'x', 'a', 'x', 'a', 'x', 'a'].map((name) => ({ calls: [{ name, arguments: {} }] })), { text: 'done' })
    await harness.say(agent, 'go')
    expect(heard(agent)).toBe('A x A x A x A')
  })

  it('of two agents that fail in turns have counts of their own', async () => {
    await using harness = await stage(both)
    const agents = [harness.agent(), harness.agent()] as const
    for (let round = 0; round < 3; round++) for (const agent of agents) await play(harness, agent, 'x A', round === 0 ? 'U' : 'P')
    expect(agents.map(heard)).toEqual(['x A x A x A!', 'x A x A x A!'])
  })

  it('that are resumed start with no failures', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'loopguard-failures-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    await using harness = await stage(both, true, folder)
    const { ctx } = harness
    const first = harness.agent({ id: 'one' })
    await play(harness, first, 'A x A')
    await first.dispose()
    const second = await ctx.agentLoop.resume(first.id, { provider: 'scripted', model: 'scripted' })
    await play(harness, second, 'x A x A', 'P')
    expect(heard(second)).toBe('A x A x A x A')
    await play(harness, second, 'x A', 'P')
    expect(heard(second)).toBe('A x A x A x A x A!')
  })

  it('failures of nested calls are neither counted nor reminded of', async () => {
    await using harness = await stage(both)
    const { ctx } = harness
    const agent = harness.agent()
    ctx.tools.register({
      name: 'outer',
      description: '',
      parameters: {},
      execute: async (_args, { signal, agent: owner, token: parent }) => {
        const { isError } = await execute(ctx, { name: 'nobody', arguments: {} }, { signal, parent, ...(owner && { agent: owner }) })
        return `inner failed: ${isError}`
      },
    })
    harness.model.push(...['outer', 'x', 'outer', 'x', 'outer', 'x', 'outer'].map((name) => ({ calls: [{ name, arguments: {} }] })), {
      text: 'done',
    })
    await harness.say(agent, 'go')
    expect(heard(agent)).not.toMatch(/[!?]/)
    harness.model.push({ calls: [{ name: 'nobody', arguments: {} }] }, { text: 'done' })
    await play(harness, agent, 'x', 'P')
    expect(heard(agent)).not.toMatch(/[!?]/)
  })
})

describe('both reminders in one composition', () => {
  it('never speak of the same call in the same step, change no result, and are in the log behind all results of the step', async () => {
    const word = fc
      .array(fc.constantFrom('A', 'A', 'A', 'A', 'B', 'a', 'x', '1', '2'), { minLength: 1, maxLength: 6 })
      .map((letters) => letters.join(''))
    const words = fc.array(fc.oneof({ arbitrary: word, weight: 8 }, { arbitrary: fc.constantFrom('U', 'P'), weight: 1 }), {
      minLength: 1,
      maxLength: 10,
    })
    const numbers = fc.uniqueArray(fc.integer({ min: 2, max: 5 }), { minLength: 1, maxLength: 3 })
    let [failures, repeats] = [0, 0]
    await fc.assert(
      fc.asyncProperty(
        words,
        numbers,
        numbers,
        fc.constantFrom('any' as const, 'unchanged' as const),
        fc.boolean(),
        async (trace, one, two, results, turned) => {
          const plugins = [
            [guard, { thresholds: one }],
            [repeatToolReminder, { thresholds: two, results }],
          ] as const
          const harness = await stage(turned ? [...plugins].reverse() : plugins)
          const agent = harness.agent()
          const spoken: { step: number; call: string; by: string }[] = []
          let step = 0
          harness.ctx.on('session/event', (_session, { type }) => void (type === 'step/start' && step++))
          harness.ctx.on('tools/result', (exec, { additionalContexts = [] }) => {
            for (const context of additionalContexts) {
              const by = isReminder(context) ? 'failures' : isRepeatReminder(context) ? 'repeats' : ''
              spoken.push({ step, call: `${exec.name} ${JSON.stringify(exec.arguments)}`, by })
            }
          })
          await play(harness, agent, trace.join(' '))
          await harness.dispose()
          failures += spoken.filter(({ by }) => by === 'failures').length
          repeats += spoken.filter(({ by }) => by === 'repeats').length
          const bySpeaker = new Map<string, Set<string>>()
          for (const { step: at, call, by } of spoken) bySpeaker.set(`${at} ${call}`, (bySpeaker.get(`${at} ${call}`) ?? new Set()).add(by))
          expect([...bySpeaker.values()].every((by) => by.size === 1)).toBe(true)
          // A letter for each result of a step, reminders behind the last of them.
          expect(heard(agent)).toMatch(/^(?:[a-zA-Z]+[!?]* ?)*$/)
          expect(harness.log).toEqual([])
        },
      ),
      { numRuns: 60 },
    )
    expect(failures).toBeGreaterThan(10)
    expect(repeats).toBeGreaterThan(10)
  })
})
