import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { nameTheDeaf } from '../src/run/quit.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('what does not stop is named once, after two seconds; what comes later is named too', () => {
  const said: string[] = []
  let running = ['a']
  const stop = nameTheDeaf(
    () => running,
    30_000,
    (text) => said.push(text),
  )
  vi.advanceTimersByTime(1999)
  expect(said).toEqual([])
  vi.advanceTimersByTime(4001)
  running = ['a', 'b']
  vi.advanceTimersByTime(4000)
  stop()
  vi.advanceTimersByTime(60_000)
  const line = (name: string): string => `waiting for ${name}: it has not stopped, and is given up on 30000 ms after the cancel\n`
  expect(said).toEqual([line('a'), line('b')])
  expect(vi.getTimerCount()).toBe(0)
})
