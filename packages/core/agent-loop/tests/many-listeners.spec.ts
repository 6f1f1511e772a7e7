import { setMaxListeners } from 'node:events'
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest'
import { createHarness, gate } from '@loopguard/testkit'
import { tool } from './support/tools.ts'

const { AbortController: Real } = globalThis

// Node 22.12 warns after ten listeners of a signal, later ones never: here all do.
beforeEach(() => {
  globalThis.AbortController = class extends Real {
    constructor() {
      super()
      setMaxListeners(10, this.signal)
    }
  }
})
afterEach(() => void (globalThis.AbortController = Real))

it('any number of bodies that overlap may each add listeners to the signal of the turn', async () => {
  const seen: Error[] = []
  const warn = (warning: Error): void => void seen.push(warning)
  process.on('warning', warn)
  onTestFinished(() => void process.off('warning', warn))
  const all = gate()
  let running = 0
  await using harness = await createHarness({
    loop: { maxParallelToolCalls: 100 },
    script: [{ calls: Array.from({ length: 40 }, () => ({ name: 'listen', arguments: {} })) }, { text: 'done' }],
    tools: [
      tool(
        'listen',
        async (_args, { signal }) => {
          for (let n = 0; n < 3; n++) signal.addEventListener('abort', () => {})
          if (++running === 40) all.open()
          await all.opened
          return 'ok'
        },
        { isConcurrencySafe: () => true },
      ),
    ],
  })
  await harness.say(harness.agent(), 'go')
  await new Promise((resolve) => setImmediate(resolve))
  expect(running).toBe(40)
  expect(seen).toEqual([])
})
