import { expect, it } from 'vitest'
import { Outbox } from '../src/outbox.ts'

const round = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

function box({ send = async () => {} }: { send?: (item: string) => Promise<void> } = {}) {
  const sent: string[] = []
  const failed: unknown[] = []
  const outbox = new Outbox<string>(
    (item) => (sent.push(item), send(item)),
    (error) => failed.push(error),
  )
  return { outbox, sent, failed }
}

it('makes what is to be sent when its turn has come, one after the other', async () => {
  const doors: (() => void)[] = []
  const { outbox, sent } = box({ send: () => new Promise((resolve) => doors.push(resolve)) })
  const made: string[] = []
  for (const name of ['a', 'b']) outbox.push(() => (made.push(name), [`${name}1`, `${name}2`]))
  expect([made, sent]).toEqual([[], []])
  await round()
  expect([made, sent]).toEqual([['a'], ['a1']])
  doors[0]!()
  await round()
  expect([made, sent]).toEqual([['a'], ['a1', 'a2']])
  doors[1]!()
  await round()
  expect([made, sent]).toEqual([
    ['a', 'b'],
    ['a1', 'a2', 'b1'],
  ])
})

it('an entry that throws is told; the others follow', async () => {
  const { outbox, sent, failed } = box()
  outbox.push(() => {
    throw new Error('odd')
  })
  outbox.push(function* () {
    yield 'half'
    throw new Error('odder')
  })
  outbox.push(() => ['whole'])
  await round()
  expect([sent, failed.map((error) => (error as Error).message)]).toEqual([
    ['half', 'whole'],
    ['odd', 'odder'],
  ])
})

it('what a mark sets going is sent before what comes behind it', async () => {
  const { outbox, sent } = box()
  outbox.push(() => ['a'])
  outbox.mark(
    () =>
      void Promise.resolve()
        .then(() => Promise.resolve())
        .then(() => sent.push('answer')),
  )
  outbox.push(() => ['b'])
  await round()
  await round()
  await round()
  expect(sent).toEqual(['a', 'answer', 'b'])
})

it('closed, it drops what waits and what comes, and says so to those that ask; a failed sending closes it', async () => {
  const { outbox, sent } = box({ send: () => Promise.reject(new Error('gone')) })
  const told: string[] = []
  outbox.push(() => ['a', 'never'])
  outbox.push(
    () => ['never'],
    () => told.push('dropped'),
  )
  outbox.mark(() => told.push('mark'))
  await round()
  outbox.push(
    () => ['never'],
    () => told.push('late'),
  )
  outbox.mark(() => told.push('late mark'))
  await round()
  expect([sent, told]).toEqual([['a'], ['dropped', 'mark', 'late', 'late mark']])
})

it('many entries let the event loop turn', async () => {
  const { outbox, sent } = box()
  const until = performance.now() + 30
  let isServed = false
  setTimeout(() => (isServed = true), 1)
  outbox.push(function* () {
    while (performance.now() < until) yield isServed ? 'after' : 'before'
  })
  await new Promise((resolve) => setTimeout(resolve, 60))
  expect(sent).toContain('after')
})
