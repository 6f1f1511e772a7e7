import { getEventListeners } from 'node:events'
import { setImmediate as macrotask } from 'node:timers/promises'
import { deadline, follow, unfollow, type Follower } from '@loopguard/timeout'
import { expect, it } from 'vitest'

const listeners = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length

it('any number of followers, deadlines among them, stand behind one listener, which goes with the last of them', () => {
  const { signal } = new AbortController()
  const followers = Array.from({ length: 50 }, (): Follower => ({ abort: () => {} }))
  for (const follower of followers) follow(signal, follower)
  const limit = deadline(signal, 1000, 'X')
  expect(listeners(signal)).toBe(1)
  for (const follower of followers) unfollow(signal, follower)
  expect(listeners(signal)).toBe(1)
  limit[Symbol.dispose]()
  expect(listeners(signal)).toBe(0)
})

it('each is told once, in the order in which they came, with the reason; one that has left is not told', () => {
  const controller = new AbortController()
  const told: unknown[] = []
  const follower = (name: string, then = (): void => {}): Follower => ({ abort: (reason) => (told.push([name, reason]), then()) })
  const third = follower('third')
  follow(controller.signal, follower('first'))
  follow(
    controller.signal,
    follower('second', () => unfollow(controller.signal, third)),
  )
  follow(controller.signal, third)
  controller.signal.dispatchEvent(new Event('abort')) // forged
  controller.abort('why')
  controller.signal.dispatchEvent(new Event('abort'))
  expect(told).toEqual([
    ['first', 'why'],
    ['second', 'why'],
  ])
})

it('each is told once, also when one dispatches the event again while it is told', () => {
  const controller = new AbortController()
  const told: string[] = []
  for (const name of ['first', 'second', 'third']) {
    follow(controller.signal, { abort: () => (told.push(name), controller.signal.dispatchEvent(new Event('abort'))) })
  }
  controller.abort('why')
  expect(told.toSorted()).toEqual(['first', 'second', 'third'])
  expect(listeners(controller.signal)).toBe(0)
})

it('one that throws is uncaught, like a listener, and keeps no other from hearing: neither followers nor deadlines', async () => {
  const controller = new AbortController()
  const { signal } = controller
  const told: string[] = []
  const broken = (name: string): Follower => ({
    abort: () => {
      told.push(name)
      throw new Error(`${name} is broken`)
    },
  })
  follow(signal, broken('first'))
  follow(signal, { abort: () => told.push('second') })
  follow(signal, broken('third'))
  using limit = deadline(signal, 60_000, 'LATE')
  const uncaught = await uncaughtIn(() => controller.abort('why'))
  expect(told).toEqual(['first', 'second', 'third'])
  expect(limit.signal.reason).toBe('why')
  expect(uncaught.map(String)).toEqual(['Error: first is broken', 'Error: third is broken'])
  expect(listeners(signal)).toBe(0)
})

it('leaving twice, or without having come, does nothing', () => {
  const { signal } = new AbortController()
  const follower: Follower = { abort: () => {} }
  unfollow(signal, follower)
  follow(signal, follower)
  unfollow(signal, follower)
  unfollow(signal, follower)
  expect(listeners(signal)).toBe(0)
})

/** What is thrown where no one can catch it. The test runner, which listens for that, does not hear of it. */
async function uncaughtIn(work: () => void): Promise<unknown[]> {
  const uncaught: unknown[] = []
  const others = process.listeners('uncaughtException')
  process.removeAllListeners('uncaughtException')
  process.on('uncaughtException', (thrown) => uncaught.push(thrown))
  try {
    work()
    await macrotask()
  } finally {
    process.removeAllListeners('uncaughtException')
    for (const listener of others) process.on('uncaughtException', listener)
  }
  return uncaught
}
