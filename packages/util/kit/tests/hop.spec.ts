import { afterEach, describe, expect, it, vi } from 'vitest'
import { hopIfDue, isHopAwaited } from '@loopguard/kit'

const { setImmediate: immediate, setTimeout: later } = globalThis
const clock = performance.now.bind(performance)

/** Lets the event loop turn, so that the next to ask is the first. */
const turned = (): Promise<void> => new Promise((resolve) => later(() => immediate(resolve), 1))

/** Keeps the event loop for longer than anybody may. */
function busy(ms = 5): void {
  for (const until = clock() + ms; clock() < until;);
}

afterEach(() => void vi.useRealTimers())

describe('hopIfDue', () => {
  it('asks nothing of who comes first, however long the process has run', async () => {
    await turned()
    busy(20)
    expect(hopIfDue()).toBeUndefined()
  })

  it('once the event loop has been kept for too long, is a promise that settles when it has turned', async () => {
    await turned()
    const order: string[] = []
    immediate(() => order.push('others'))
    void hopIfDue()
    busy()
    await hopIfDue()
    order.push('caller')
    expect(order).toEqual(['others', 'caller'])
    expect(hopIfDue()).toBeUndefined()
  })

  it('is one hop for all who are due, and nothing is left of it afterwards', async () => {
    await turned()
    void hopIfDue()
    busy()
    const [one, other] = [hopIfDue(), hopIfDue()]
    expect(one).toBeInstanceOf(Promise)
    expect(other).toBe(one)
    expect(isHopAwaited()).toBe(true)
    await one
    expect(isHopAwaited()).toBe(false)
    expect(hopIfDue()).toBeUndefined()
    busy()
    const next = hopIfDue()
    expect(next).toBeInstanceOf(Promise)
    expect(next).not.toBe(one)
    await next
  })

  it('is served again and again: a timer that is due runs after two hops at most', async () => {
    await turned()
    let fired = false
    later(() => (fired = true), 1)
    let hops = 0
    while (!fired && hops < 50) {
      busy()
      const hop = hopIfDue()
      if (hop === undefined) continue
      await hop
      hops++
    }
    expect({ fired, few: hops <= 2 }).toEqual({ fired: true, few: true })
  })

  it('takes no notice of a fake clock', async () => {
    await turned()
    vi.useFakeTimers()
    void hopIfDue()
    busy()
    const hop = hopIfDue()
    expect(hop).toBeInstanceOf(Promise)
    await hop
    expect(vi.getTimerCount()).toBe(0)
  })
})
