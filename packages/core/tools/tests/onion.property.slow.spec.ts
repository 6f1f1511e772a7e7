import fc from 'fast-check'
import type { ToolExecutionResult } from '@loopguard/tools'
import { expect, it } from 'vitest'
import { Host, said } from './support.ts'

/** What a wrapper does: so many calls of `next`, with or without a signal of its own, and how it ends. */
interface Script {
  readonly attempts: number
  readonly swaps: boolean
  readonly restores: boolean
  readonly slow: boolean
  readonly end: 'last' | 'own' | 'throw'
}

const script = fc.record<Script>({
  attempts: fc.integer({ min: 0, max: 3 }),
  swaps: fc.boolean(),
  restores: fc.boolean(),
  slow: fc.boolean(),
  end: fc.constantFrom('last', 'last', 'own', 'throw'),
})

/** A line of the trace: which layer, and whose signal it saw (`-1` is the caller's). */
type Line = readonly [at: string, signal: number]

/** What must happen, by the law: each `next()` runs every inner layer once, in order; a signal is seen inside of its layer only. */
function expected(scripts: readonly Script[], bodyFails: boolean): { readonly trace: Line[]; readonly outcome: string } {
  const trace: Line[] = []
  const layer = (index: number, signal: number): string => {
    const own = scripts[index]
    if (own === undefined) {
      trace.push(['body', signal])
      return bodyFails ? 'Error: body' : 'body'
    }
    trace.push([`in ${index}`, signal])
    let last = `own ${index}`
    for (let attempt = 0; attempt < own.attempts; attempt++) {
      try {
        last = layer(index + 1, own.swaps ? index : signal)
      } catch (thrown) {
        last = `Error: ${(thrown as Error).message}`
      }
      trace.push([`back ${index}`, own.swaps ? index : signal])
    }
    if (own.end === 'throw') throw new Error(`thrown ${index}`)
    return own.end === 'own' ? `own ${index}` : last
  }
  try {
    return { trace, outcome: layer(0, -1) }
  } catch (thrown) {
    return { trace, outcome: `Error: ${(thrown as Error).message}` }
  }
}

const ok = (text: string): ToolExecutionResult => ({ isError: false, content: [{ type: 'text', text }] })
const notOk = (message: string): ToolExecutionResult => ({
  isError: true,
  content: [{ type: 'text', text: `Error: ${message}` }],
  error: { message },
})

it('any chain of wrappers that retry, short-circuit, throw and swap signals keeps the law of the onion', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(script, { maxLength: 4 }), fc.boolean(), async (scripts, bodyFails) => {
      const caller = new AbortController()
      const signals = new Map<AbortSignal, number>([[caller.signal, -1]])
      const trace: Line[] = []
      const misfused: AbortSignal[] = []

      const host = await Host.start(async (_args, exec) => {
        trace.push(['body', signals.get(innermost) ?? NaN])
        // The very signal of the caller, or one that is made of it and of what a wrapper has put in its place.
        if (signals.has(exec.signal) !== (innermost === caller.signal)) misfused.push(exec.signal)
        if (bodyFails) throw new Error('body')
        return 'body'
      })
      let innermost = caller.signal
      for (const [index, { attempts, swaps, restores, slow, end }] of scripts.entries()) {
        const own = new AbortController().signal
        signals.set(own, index)
        host.ctx.on('tools/execute', async (exec, next) => {
          const seen = (): number => signals.get(exec.signal) ?? NaN
          trace.push([`in ${index}`, seen()])
          const before = exec.signal
          if (swaps) exec.signal = own
          innermost = exec.signal
          let last = ok(`own ${index}`)
          for (let attempt = 0; attempt < attempts; attempt++) {
            innermost = exec.signal
            if (slow) await Promise.resolve()
            last = await next().catch((thrown: Error) => notOk(thrown.message))
            trace.push([`back ${index}`, seen()])
          }
          if (restores) exec.signal = before
          if (end === 'throw') throw new Error(`thrown ${index}`)
          return end === 'own' ? ok(`own ${index}`) : last
        })
      }
      let after: AbortSignal | undefined
      host.ctx.on('tools/post-execute', (exec, _result, next) => ((after = exec.signal), next()))

      const outcome = said(await host.call({ signal: caller.signal }))
      expect({ trace, outcome }).toEqual(expected(scripts, bodyFails))
      expect(after).toBe(caller.signal)
      expect(misfused).toEqual([])
    }),
    { numRuns: 300 },
  )
}, 60_000)
