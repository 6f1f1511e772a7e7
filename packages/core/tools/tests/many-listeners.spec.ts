import { setMaxListeners } from 'node:events'
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest'
import { Host } from './support.ts'

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

function warnings(): Error[] {
  const seen: Error[] = []
  const warn = (warning: Error): void => void seen.push(warning)
  process.on('warning', warn)
  onTestFinished(() => void process.off('warning', warn))
  return seen
}

const anIteration = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

it('a body may add any number of listeners to the signal that it got behind a wrapper', async () => {
  const seen = warnings()
  const host = await Host.start((_args, { signal }) => {
    for (let n = 0; n < 50; n++) signal.addEventListener('abort', () => {})
    return 'done'
  })
  host.ctx.on('tools/execute', (exec, next) => {
    exec.signal = new AbortController().signal
    return next()
  })
  await host.call()
  await anIteration()
  expect(seen).toEqual([])
})
