import { getEventListeners } from 'node:events'
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

it('leaving twice, or without having come, does nothing', () => {
  const { signal } = new AbortController()
  const follower: Follower = { abort: () => {} }
  unfollow(signal, follower)
  follow(signal, follower)
  unfollow(signal, follower)
  unfollow(signal, follower)
  expect(listeners(signal)).toBe(0)
})
