import { setImmediate as letTimersRun } from 'node:timers/promises'
import type { Context } from '@deepseek-ai/cordis'
import { defineTool } from '@loopguard/tools'

/** Computes, and looks up now and then. Without the `await` no timer fires while it computes, so its signal never aborts. */
const countPrimes = defineTool<{ below: number }>({
  name: 'count_primes',
  description: 'Counts the primes below a number',
  parameters: { type: 'object', properties: { below: { type: 'number' } }, required: ['below'] },
  timeoutMs: 100,
  async execute({ below }, { signal }) {
    let found = 0
    for (let n = 2; n < below; n++) {
      if (n % 1_000 === 0) {
        await letTimersRun()
        signal.throwIfAborted()
      }
      if (isPrime(n)) found++
    }
    return `${found} primes`
  },
})

function isPrime(n: number): boolean {
  for (let factor = 2; factor * factor <= n; factor++) if (n % factor === 0) return false
  return true
}

// The plugin that brings the tool: its row in a `cordis.yml` names this file, compiled.
export const name = 'prime-tools'
export const inject = ['tools']

export function apply(ctx: Context): void {
  ctx.tools.register(countPrimes)
}
