import { afterEach, expect, it, vi } from 'vitest'
import { Stopwatch } from '../src/clock.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

it.each([
  ['the process was stopped', 7000, 7000],
  ['the machine slept', 0, 7000],
  ['the wall clock was set back', 7000, -60_000],
])('a stopwatch counts the time also when %s', (_what, monotonicMs, wallMs) => {
  const monotonic = vi.spyOn(performance, 'now').mockReturnValue(1000)
  const wall = vi.spyOn(Date, 'now').mockReturnValue(1_700_000_000_000)
  const watch = new Stopwatch()
  expect(watch.elapsedMs).toBe(0)
  monotonic.mockReturnValue(1000 + monotonicMs)
  wall.mockReturnValue(1_700_000_000_000 + wallMs)
  expect(watch.elapsedMs).toBe(7000)
})
