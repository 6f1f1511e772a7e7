import { vi } from 'vitest'

export interface Clock {
  /** Lets time pass, and everything that it sets off settle. */
  pass(ms: number): Promise<void>
  /** Timers that are armed. */
  armed(): number
}

/** Runs `body` on a clock that stands still unless it is moved. Only timers are faked, so promises run as ever. */
export async function onFakeClock(body: (clock: Clock) => Promise<void>): Promise<void> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    await body({
      pass: async (ms) => {
        await settled()
        await vi.advanceTimersByTimeAsync(ms)
        await settled()
      },
      armed: () => vi.getTimerCount(),
    })
  } finally {
    vi.useRealTimers()
  }
}

/** Everything that needs no timer to go on has gone on. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
