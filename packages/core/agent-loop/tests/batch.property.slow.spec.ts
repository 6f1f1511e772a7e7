import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createUserMessage, text } from '@loopguard/llm'
import { createHarness } from '@loopguard/testkit'
import { faultOfLog } from './support/laws.ts'
import { story } from './support/story.ts'
import { tool } from './support/tools.ts'

const call = fc.record({ safe: fc.boolean(), contexts: fc.nat({ max: 2 }), fails: fc.boolean() })

describe('a batch of any calls whose bodies end in any order', () => {
  it('keeps the order of the model, the limit and the barriers', { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(call, { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 1, max: 4 }),
        fc.scheduler(),
        async (calls, limit, s) => {
          await using host = await createHarness({ loop: { maxParallelToolCalls: limit } })
          const agent = host.agent()
          const running = new Set<string>()
          let most = 0
          const faults: string[] = []
          const stages: string[] = []
          for (const safe of [true, false]) {
            agent.ctx.tools.register(
              tool(
                safe ? 'safe' : 'alone',
                async (args, { callId, deferContext }) => {
                  if (running.size > 0 && !(safe && [...running].every((id) => calls[Number(id)]?.safe)))
                    faults.push(`${callId} ran with others`)
                  running.add(callId)
                  most = Math.max(most, running.size)
                  const { contexts, fails } = args as { contexts: number; fails: boolean }
                  for (let n = 0; n < contexts; n++) {
                    deferContext(createUserMessage({ content: [text(`${callId}-${n}`)], source: { kind: 'plugin', plugin: 'p' } }))
                  }
                  await s.schedule(Promise.resolve(), callId)
                  running.delete(callId)
                  if (fails) throw new Error('no luck')
                  return 'ok'
                },
                { isConcurrencySafe: () => safe },
              ),
            )
          }
          agent.ctx.on('tools/pre-execute', ({ callId }, next) => (stages.push(`pre ${callId}`), next()))
          agent.ctx.on('tools/post-execute', ({ callId }, _result, next) => (stages.push(`post ${callId}`), next()))
          host.model.push(
            { calls: calls.map(({ safe, ...args }, index) => ({ name: safe ? 'safe' : 'alone', arguments: args, id: String(index) })) },
            { text: 'seen' },
          )
          await s.waitFor(host.say(agent, 'go'))
          const ids = calls.map((_call, index) => String(index))
          const of = (lines: readonly string[], start: string) => lines.filter((line) => line.startsWith(start))
          expect(faults).toEqual([])
          expect(most).toBeLessThanOrEqual(limit)
          expect(of(stages, 'pre')).toEqual(ids.map((id) => `pre ${id}`))
          expect(of(stages, 'post')).toEqual(ids.map((id) => `post ${id}`))
          expect(faultOfLog(agent.session.events)).toBeUndefined()
          const lines = story(agent.session)
          expect(of(lines, 'result')).toEqual(
            calls.map(({ fails }, index) => `result ${index}${fails ? ' failed: Error: no luck' : ': ok'}`),
          )
          expect(of(lines, 'user')).toEqual([
            'user go',
            ...calls.flatMap(({ contexts }, index) => Array.from({ length: contexts }, (_, n) => `user ${index}-${n}`)),
          ])
        },
      ),
      { numRuns: 150 },
    )
  })
})
