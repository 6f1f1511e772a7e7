import { fakeClock, gate } from '@loopguard/testkit'
import { expect, it, onTestFinished } from 'vitest'
import { Host } from './support.ts'

const pause = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms))

async function stopped(body: () => Promise<string>) {
  const host = await Host.start(body)
  const clock = fakeClock()
  onTestFinished(() => clock.restore())
  return { host, clock }
}

it('the time of a body starts with it, grows while it runs, and stands when it has settled', async () => {
  const { host, clock } = await stopped(() => pause(80).then(() => 'done'))
  const prepared = await host.tools.prepare(host.input())
  const seen = [prepared.bodyMs()]
  await clock.advance(500)
  seen.push(prepared.bodyMs())
  const dispatching = prepared.dispatch()
  await clock.advance(30)
  seen.push(prepared.bodyMs())
  await clock.advance(1_000)
  await dispatching
  seen.push(prepared.bodyMs())
  await prepared.finish()
  expect(seen).toEqual([undefined, undefined, 30, 80])
})

it('the time of a body that throws counts', async () => {
  const { host, clock } = await stopped(() => pause(80).then(() => Promise.reject(new Error('no luck'))))
  const prepared = await host.tools.prepare(host.input())
  const dispatching = prepared.dispatch()
  await clock.advance(80)
  await dispatching
  expect((await prepared.finish()).isError).toBe(true)
  expect(prepared.bodyMs()).toBe(80)
})

it('the times of all attempts add up, without the pause between them', async () => {
  const { host, clock } = await stopped(() => pause(80).then(() => 'done'))
  host.ctx.on('tools/execute', async (_exec, next) => {
    await next()
    await pause(1_000)
    return next()
  })
  const prepared = await host.tools.prepare(host.input())
  const dispatching = prepared.dispatch()
  await clock.advance(2_000)
  await dispatching
  expect(prepared.bodyMs()).toBe(160)
  await prepared.finish()
})

it('the time of a body that is given up on stands from then on', async () => {
  const go = gate()
  const { host, clock } = await stopped(() => go.opened.then(() => 'late'))
  const caller = new AbortController()
  const prepared = await host.tools.prepare(host.input({ signal: caller.signal }))
  const dispatching = prepared.dispatch()
  await clock.advance(70)
  caller.abort()
  const late = prepared.abandon()
  await dispatching
  await clock.advance(500)
  go.open()
  await late
  await prepared.finish()
  expect(prepared.bodyMs()).toBe(70)
})
