import { answers, says } from '@loopguard/testkit/model-server'
import type * as Undici from 'undici'
import { expect, it, vi } from 'vitest'
import { stage } from './stage.ts'

const made: Undici.Agent[] = []
const options: unknown[] = []

vi.mock('undici', async (importOriginal) => {
  const undici = await importOriginal<typeof Undici>()
  class Agent extends undici.Agent {
    constructor(given: Undici.Agent.Options) {
      super(given)
      options.push(given)
      made.push(this)
    }
  }
  return { ...undici, Agent }
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
