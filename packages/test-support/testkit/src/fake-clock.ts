import { isHopAwaited } from '@loopguard/kit'
import { FakeTimer } from './fake-timer.ts'

/**
 * A clock that stands still until it is told to advance. It stands in for the global `setTimeout`, `setInterval`, their `clear`
 * twins, `Date` and `performance.now`. Not for `setImmediate`, `node:timers/promises` and `AbortSignal.timeout`, which do not read
 * the globals. A test runner's fake timers work too: nothing here depends on this clock.
 */
export interface FakeClock extends Disposable {
  /** Milliseconds since the epoch, as `Date.now()` gives them. */
  readonly now: number
  /** How many timers are armed: zero is how a "no timer is left" test ends. */
  readonly pending: number
  /**
   * Moves the time on and fires what falls due, in order; before and after each timer all that promises can settle has settled.
   * @throws what a timer's callback throws.
   */
  advance(ms: number): Promise<void>
  /** Puts the real clock back and forgets the timers that are armed. Again is a no-op. */
  restore(): void
}

const real = { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, Date }
let installed = false

/**
 * Stops the clock of this process.
 * @param start - milliseconds since the epoch at which it stands.
 * @throws Error when it has been stopped already.
 */
export function fakeClock(start: number = Date.UTC(2026, 0, 1)): FakeClock {
  if (installed) throw new Error('fakeClock: the clock is a fake already; restore it first')
  installed = true
  const clock = new Clock(start)
  // Whole, so that differences of readings are as exact as the steps by which the clock advances.
  const realNow = Math.ceil(performance.now())
  Object.assign(globalThis, {
    setTimeout: (callback: () => void, delay?: number, ...args: unknown[]) => clock.arm(callback, delay, args, false),
    setInterval: (callback: () => void, delay?: number, ...args: unknown[]) => clock.arm(callback, delay, args, true),
    clearTimeout: (handle: unknown) => clock.disarm(handle),
    clearInterval: (handle: unknown) => clock.disarm(handle),
    Date: fakeDate(clock),
  })
  Object.defineProperty(performance, 'now', { configurable: true, value: () => realNow + clock.now - start })
  const restore = (): void => {
    if (!installed || clock.over) return
    clock.over = true
    installed = false
    const { setTimeout, clearTimeout, setInterval, clearInterval, Date } = real
    Object.assign(globalThis, { setTimeout, clearTimeout, setInterval, clearInterval, Date })
    delete (performance as { now?: unknown }).now
  }
  return {
    get now() {
      return clock.now
    },
    get pending() {
      return clock.timers.size
    },
    advance: (ms) => clock.advance(ms),
    restore,
    [Symbol.dispose]: restore,
  }
}

class Clock {
  now: number
  over = false
  readonly timers = new Set<FakeTimer>()

  constructor(now: number) {
    this.now = now
  }

  arm(callback: (...args: unknown[]) => void, delay: number | undefined, args: unknown[], repeats: boolean): FakeTimer {
    const timer = new FakeTimer(this, () => callback(...args), delay, repeats)
    timer.refresh()
    return timer
  }

  disarm(handle: unknown): void {
    if (handle instanceof FakeTimer) this.timers.delete(handle)
    else if (typeof handle === 'object') real.clearTimeout(handle as NodeJS.Timeout)
    else for (const timer of this.timers) if (timer.id === Number(handle)) this.timers.delete(timer)
  }

  async advance(ms: number): Promise<void> {
    if (!(ms >= 0 && ms < Infinity)) throw new RangeError(`fakeClock: can only advance by 0 ms or more, got ${ms}`)
    const target = this.now + ms
    for (;;) {
      await settled()
      const next = this.next()
      if (next === undefined || next.due > target) break
      this.now = next.due
      next.fire()
    }
    this.now = target
  }

  private next(): FakeTimer | undefined {
    let first: FakeTimer | undefined
    for (const timer of this.timers) if (first === undefined || timer.due < first.due) first = timer
    return first
  }
}

/** Turns of the real event loop until every promise that could settle has, those included that let others run in between. */
async function settled(): Promise<void> {
  do await new Promise((resolve) => real.setImmediate(resolve))
  while (isHopAwaited())
}

function fakeDate(clock: { readonly now: number }): DateConstructor {
  return new Proxy(real.Date, {
    apply: () => new real.Date(clock.now).toString(),
    construct: (target, args, newTarget) => Reflect.construct(target, args.length === 0 ? [clock.now] : args, newTarget) as object,
    get: (target, key, receiver) => (key === 'now' ? () => clock.now : (Reflect.get(target, key, receiver) as unknown)),
  })
}
