import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encodeLine, type SessionEvent } from '@loopguard/session'
import { createHarness, userMessage } from '@loopguard/testkit'
import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import { Ledger } from '../src/ledger.ts'
import { RULES, type Limit } from '../src/limits.ts'
import { looks, stage, tool } from './stage.ts'

const PER_AGENT = ['maxStepsPerAgent', 'maxCallsPerAgent', 'maxTokensPerAgent', 'maxAgentMs'] as const satisfies readonly Limit[]

/** A log with several turns in it, in which calls fail, are denied and are cancelled. Its events lie a second apart. */
async function richLog(): Promise<SessionEvent[]> {
  const usage = { inputTokens: 7, outputTokens: 5 }
  const batch = (...words: string[]) => ({ calls: words.map((word) => ({ name: 'look', arguments: { word } })), usage })
  const stop = { text: 'done', usage }
  const { agent1, say, ctx, model } = await stage(
    { maxCallsPerTurn: 4, maxStepsPerTurn: 4 },
    {
      script: [batch('a', 'b'), looks('c', { usage }), stop, batch('d', 'e', 'f'), batch('g', 'h'), batch('i'), batch('j'), stop],
      tools: [tool('other')],
    },
  )
  ctx.on('tools/execute', (_exec, next) => {
    if (model.count === 8) agent1.cancel()
    return next()
  })
  for (const words of ['one', 'two', 'three']) await say(agent1, words)
  agent1.inject(userMessage('by the way'))
  return agent1.session.events.map((event, index) => ({ ...event, time: 1_000_000 + index * 1_000 }))
}

it('wherever the process is killed, what the agent has used is what its log said by then', async () => {
  const log = await richLog()
  const directory = await mkdtemp(join(tmpdir(), 'budget-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const harness = await createHarness({ sessions: { directory } })
  onTestFinished(() => harness.dispose())
  const used = (events: readonly SessionEvent[], now: number): number[] => {
    const ledger = new Ledger(events, () => true).catchUp()
    return PER_AGENT.map((limit) => ledger.used(RULES[limit], now))
  }
  let interrupted = 0
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: log.length }), async (cut) => {
      const id = log[0]?.type === 'session/start' ? log[0].data.id : 'none'
      const before = log.slice(0, cut)
      await writeFile(join(directory, `${id}.jsonl`), before.map((event) => encodeLine(event)).join(''))
      const session = await harness.ctx.sessions.load(id)
      session.close()
      const last = session.events.at(-1)
      if (session.events.length > cut && last?.type === 'turn/end') interrupted++
      // The loop writes the end of a step, the claim of a message and the result of a call that was not started right after the event
      // before: a log whose events lie apart counts up to that one.
      const counted = before.findLastIndex(
        ({ type, data }) => type !== 'step/end' && !(type === 'inbox/removed' && data.cause === 'claimed'),
      )
      expect(used(session.events, Date.now())).toEqual(used(before, before[counted]?.time ?? 0))
    }),
    { numRuns: 60 },
  )
  expect(interrupted).toBeGreaterThan(10)
})
