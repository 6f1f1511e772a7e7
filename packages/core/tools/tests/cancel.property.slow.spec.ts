import { getEventListeners } from 'node:events'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { codeOf, Host } from './support.ts'

const ticks = async (count: number): Promise<void> => {
  for (let tick = 0; tick < count; tick++) await Promise.resolve()
}

const pause = fc.integer({ min: 0, max: 6 })

const timing = fc.record({
  abortAt: fc.integer({ min: 0, max: 60 }),
  pre: pause,
  before: pause,
  body: pause,
  after: pause,
  post: pause,
  swaps: fc.boolean(),
  bodyHeeds: fc.boolean(),
})

/** The outcomes that are true to what was seen; without a code is the body's own failure. */
function possible(log: readonly string[], bodyHeeds: boolean): (string | undefined)[] {
  if (!log.includes('body starts')) return ['ABORTED_BEFORE_DISPATCH']
  if (log.includes('post')) return ['success']
  if (bodyHeeds && log.includes('body ends, aborted')) return [undefined]
  if (log.includes('wrapper ends, aborted')) return ['ABORTED']
  // The stage ends between the two: on which side the abort fell, no listener can tell.
  return ['success', 'ABORTED']
}

it('whenever the caller aborts, the outcome is the true one, a started body is awaited, and nothing is left on the signal', async () => {
  const codes = new Set<string | undefined>()
  await fc.assert(
    fc.asyncProperty(timing, async ({ abortAt, pre, before, body, after, post, swaps, bodyHeeds }) => {
      const caller = new AbortController()
      const log: string[] = []
      const note = (what: string): void => void log.push(caller.signal.aborted ? `${what}, aborted` : what)

      const host = await Host.start(async (_args, { signal }) => {
        note('body starts')
        for (let tick = 0; tick < body; tick++) {
          await Promise.resolve()
          if (bodyHeeds && signal.aborted) break
        }
        note('body ends')
        if (bodyHeeds) signal.throwIfAborted()
        return 'done'
      })
      host.ctx.on('tools/pre-execute', async (_exec, next) => (await ticks(pre), next()))
      host.ctx.on('tools/execute', async (exec, next) => {
        if (swaps) exec.signal = new AbortController().signal
        await ticks(before)
        const result = await next()
        await ticks(after)
        note('wrapper ends')
        return result
      })
      host.ctx.on('tools/post-execute', async (exec, _result, next) => {
        note(exec.signal === caller.signal ? 'post' : 'post with a foreign signal')
        await ticks(post)
        return next()
      })
      host.ctx.on('tools/result', () => note('result'))

      const running = host.call({ signal: caller.signal })
      void ticks(abortAt).then(() => caller.abort(new Error('stopped')))
      const code = codeOf(await running)
      codes.add(code)

      const plain = log.map((line) => line.replace(', aborted', ''))
      const started = log.includes('body starts')
      // Aborted while the call let others run: that was before it, and nothing but its result is heard of.
      const stages = log.length === 1 && log[0] === 'result, aborted' ? ['result'] : ['post', 'result']
      expect(log).not.toContain('body starts, aborted')
      expect(plain.filter((line) => line === 'body ends')).toHaveLength(started ? 1 : 0)
      expect(plain.slice(-2)).toEqual(stages)
      expect(plain.filter((line) => line === 'post' || line === 'result')).toHaveLength(stages.length)
      expect(possible(log, bodyHeeds)).toContain(code)
      caller.abort()
      expect(getEventListeners(caller.signal, 'abort')).toEqual([])
    }),
    { numRuns: 500 },
  )
  expect(codes).toEqual(new Set(['success', 'ABORTED', 'ABORTED_BEFORE_DISPATCH', undefined]))
}, 60_000)
