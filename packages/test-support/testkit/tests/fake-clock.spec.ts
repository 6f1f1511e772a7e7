import { hopIfDue } from '@loopguard/kit'
import { fakeClock } from '@loopguard/testkit'
import { afterEach, describe, expect, it } from 'vitest'

const real = { setTimeout, clearTimeout, setInterval, clearInterval, Date }
let clock: ReturnType<typeof fakeClock> | undefined

afterEach(() => clock?.restore())

function install(start?: number): ReturnType<typeof fakeClock> {
  clock = fakeClock(start)
  return clock
}

describe('a fake clock', () => {
  it('fires timers in the order in which they fall due, those of one moment in the order in which they were armed', async () => {
    const fake = install()
    const fired: string[] = []
    setTimeout(() => fired.push('b'), 20)
    setTimeout((word: string) => fired.push(word), 10, 'a')
    setTimeout(() => fired.push('c'), 20)
    setTimeout(() => fired.push('late'), 21)
    await fake.advance(20)
    expect(fired).toEqual(['a', 'b', 'c'])
  })

  it('lets promises settle between two timers, so that what they arm counts', async () => {
    const fake = install()
    const fired: string[] = []
    const pause = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms))
    const work = (async () => {
      await pause(10)
      fired.push('first')
      await pause(10)
      fired.push('second')
    })()
    setTimeout(() => fired.push('between'), 15)
    await fake.advance(20)
    expect(fired).toEqual(['first', 'between', 'second'])
    await work
  })

  it('tells the time of the moment', async () => {
    const fake = install(1000)
    const before = performance.now()
    let fired = 0
    setTimeout(() => (fired = Date.now()), 300)
    await fake.advance(500)
    expect({ fired, now: Date.now(), date: new Date().getTime(), monotonic: performance.now() - before }).toEqual({
      fired: 1300,
      now: 1500,
      date: 1500,
      monotonic: 500,
    })
    expect(new Date(7).getTime()).toBe(7)
    expect(new Date() instanceof Date).toBe(true)
    expect(Date()).toBe(new real.Date(1500).toString())
  })

  it('repeats intervals until they are cleared', async () => {
    const fake = install()
    let count = 0
    const timer = setInterval(() => {
      if (++count === 3) clearInterval(timer)
    }, 10)
    await fake.advance(100)
    expect(count).toBe(3)
  })

  it('forgets what is cleared, by handle or by number, and counts what is armed', async () => {
    const fake = install()
    const fail = (): never => expect.unreachable('a cleared timer fired')
    const [a, b] = [setTimeout(fail, 1), setTimeout(fail, 1)]
    const c = setTimeout(fail, 1).unref()
    expect([fake.pending, a.hasRef(), c.hasRef(), c.ref().hasRef()]).toEqual([3, true, false, true])
    clearTimeout(a)
    clearTimeout(Number(b))
    c[Symbol.dispose]()
    clearTimeout(undefined)
    expect(fake.pending).toBe(0)
    await fake.advance(10)
  })

  it('starts a refreshed timer over', async () => {
    const fake = install()
    let fired = 0
    const timer = setTimeout(() => fired++, 10)
    await fake.advance(9)
    timer.refresh()
    await fake.advance(9)
    expect(fired).toBe(0)
    await fake.advance(1)
    expect(fired).toBe(1)
  })

  it('puts a refreshed timer behind those that are due with it', async () => {
    const fake = install()
    const fired: string[] = []
    const first = setTimeout(() => fired.push('first'), 10)
    setTimeout(() => fired.push('second'), 10)
    first.refresh()
    await fake.advance(10)
    expect(fired).toEqual(['second', 'first'])
  })

  it.each([0, -5, Number.NaN, 2_147_483_648, undefined])('takes a delay of %s for 1 ms, as Node does', async (delay) => {
    const fake = install()
    let fired = false
    setTimeout(() => (fired = true), delay)
    await fake.advance(0)
    expect(fired).toBe(false)
    await fake.advance(1)
    expect(fired).toBe(true)
  })

  it('rejects with what a timer throws', async () => {
    const fake = install()
    setTimeout(() => {
      throw new Error('boom')
    }, 1)
    await expect(fake.advance(1)).rejects.toThrow('boom')
  })

  it.each([-1, Infinity, Number.NaN])('cannot advance by %s', async (ms) => {
    await expect(install().advance(ms)).rejects.toThrow(`can only advance by 0 ms or more, got ${ms}`)
  })

  it('clears a timer that was armed before it, and puts everything back', () => {
    const early = setTimeout(() => expect.unreachable('cleared'), 1)
    {
      using fake = fakeClock()
      expect(setTimeout).not.toBe(real.setTimeout)
      expect(() => fakeClock()).toThrow('the clock is a fake already')
      clearTimeout(early)
      fake.restore()
    }
    const { setTimeout: a, clearTimeout: b, setInterval: c, clearInterval: d, Date: e } = globalThis
    expect({ setTimeout: a, clearTimeout: b, setInterval: c, clearInterval: d, Date: e }).toEqual(real)
    expect(Object.hasOwn(performance, 'now')).toBe(false)
  })
})

it('an advance waits for work that lets others run again and again', async () => {
  const now = performance.now.bind(performance)
  using clock = fakeClock()
  let rounds = 0
  const work = async (): Promise<void> => {
    for (; rounds < 5; rounds++) {
      await hopIfDue()
      for (const until = now() + 5; now() < until;);
    }
  }
  void work()
  await clock.advance(0)
  expect(rounds).toBe(5)
})
