import { says } from '@loopguard/testkit/model-server'
import { expect, it } from 'vitest'
import { BOTH, stage } from './stage.ts'

/** The platform's own clocks would end a silence after 300 s: `LOOPGUARD_SILENCE_SECONDS=350` shows that none of them runs. */
const seconds = Number(process.env['LOOPGUARD_SILENCE_SECONDS'] ?? 1)
const idleTimeoutMs = seconds * 1000

const places = [
  ['before the headers', 'hang'],
  ['in the middle of an answer', says({ text: 'one two three' }, { cutAfter: 3, end: 'open' })],
] as const

it.concurrent.each(BOTH.flatMap((kind) => places.map(([place, entry]) => [kind, place, entry] as const)))(
  '%s: a silence %s ends as our timeout, when its time is up and not before',
  { timeout: idleTimeoutMs + 30_000 },
  async (kind, _place, entry) => {
    const { ask } = await stage({ kind, entries: [entry], config: { idleTimeoutMs } })
    const begun = performance.now()
    const { failure } = await ask()
    const ms = performance.now() - begun
    expect(failure).toEqual({ code: 'TIMEOUT', message: `provider "served" was silent for ${idleTimeoutMs}ms`, retryable: true })
    expect(ms).toBeGreaterThan(idleTimeoutMs - 5)
    expect(ms).toBeLessThan(idleTimeoutMs + 5_000)
  },
)
