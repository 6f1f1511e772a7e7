import { answers, says } from '@loopguard/testkit/model-server'
import type * as Undici from 'undici'
import { expect, it, vi } from 'vitest'
import { listeners, stage } from './stage.ts'

const made: Undici.Agent[] = []
const options: unknown[] = []
const signals: AbortSignal[] = []

vi.mock('undici', async (importOriginal) => {
  const undici = await importOriginal<typeof Undici>()
  class Agent extends undici.Agent {
    constructor(given: Undici.Agent.Options) {
      super(given)
      options.push(given)
      made.push(this)
    }
  }
  const fetch = (url: string, init: Undici.RequestInit & { signal: AbortSignal }): unknown => {
    signals.push(init.signal)
    return undici.fetch(url, init)
  }
  return { ...undici, Agent, fetch }
})

it('no clock of the platform runs but ours, and the connections go with the plugin', async () => {
  const { ask, harness } = await stage({
    entries: [says({ text: 'one' }), answers(500), says({ text: 'two' })],
    config: { idleTimeoutMs: 350_000 },
  })
  expect(options).toEqual([])
  for (let n = 0; n < 3; n++) await ask()
  // One for the row, made with the first request. While it connects the watchdog runs with the same time, and is first.
  expect(options).toEqual([{ headersTimeout: 0, bodyTimeout: 0, connect: { timeout: 350_000 } }])
  expect(made[0]?.destroyed).toBe(false)
  await harness.dispose()
  expect(made[0]?.destroyed).toBe(true)
})

it('a request takes its listener off the signal that the client was given, as the client keeps that', async () => {
  const reply = { text: 'one two three' }
  const { ask } = await stage({
    entries: [says(reply), says(reply, { cutAfter: 2, end: 'break' }), says(reply, { cutAfter: 2 }), answers(500), answers(307)],
  })
  signals.length = 0
  for (let n = 0; n < 5; n++) await ask()
  // One is the client's own.
  expect(signals.map(listeners)).toEqual([1, 1, 1, 1, 1])
})
