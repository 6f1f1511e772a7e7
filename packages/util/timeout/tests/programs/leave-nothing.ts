// Run with --expose-gc: prints, as JSON, what deadlines leave behind under one signal that outlives them.
import { getEventListeners } from 'node:events'
import { memoryUsage } from 'node:process'
import { setImmediate as tick } from 'node:timers/promises'
import { deadline, type Deadline } from '@loopguard/timeout'

const COUNT = 100_000
const warnings: string[] = []
process.on('warning', (warning) => warnings.push(warning.name))

async function heap(): Promise<number> {
  for (let i = 0; i < 4; i++) {
    await tick()
    globalThis.gc?.()
  }
  return memoryUsage().heapUsed
}

const upstream = new AbortController()
const { signal } = upstream

function oneByOne(count: number): void {
  for (let i = 0; i < count; i++) deadline(signal, 60_000, 'LATE')[Symbol.dispose]()
}

function allAtOnce(count: number): number {
  const alive: Deadline[] = []
  for (let i = 0; i < count; i++) alive.push(deadline(signal, 60_000, 'LATE'))
  const listeners = getEventListeners(signal, 'abort').length
  for (const limit of alive) limit[Symbol.dispose]()
  return listeners
}

oneByOne(5_000)
const before = await heap()
oneByOne(COUNT)
const afterOneByOne = await heap()
const listenersWhileAlive = allAtOnce(10_000)
const afterAllAtOnce = await heap()

function disposedOf(): WeakRef<Deadline> {
  const limit = deadline(signal, 60_000, 'LATE')
  limit[Symbol.dispose]()
  return new WeakRef(limit)
}
const collectable = disposedOf()

// The other way round: who keeps the deadline keeps nothing of its upstream.
function underShortLived(): [Deadline, WeakRef<AbortSignal>] {
  const shortLived = new AbortController().signal
  const limit = deadline(shortLived, 60_000, 'LATE')
  limit[Symbol.dispose]()
  return [limit, new WeakRef(shortLived)]
}
const [kept, upstreamOfKept] = underShortLived()
await heap()

process.stdout.write(
  JSON.stringify({
    heapPerDeadline: (afterOneByOne - before) / COUNT,
    heapAfterManyAlive: afterAllAtOnce - before,
    listenersWhileAlive,
    listenersAfter: getEventListeners(signal, 'abort').length,
    timersAfter: process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length,
    upstreamCollected: kept.expiry === undefined && upstreamOfKept.deref() === undefined,
    collected: collectable.deref() === undefined,
    warnings,
  }),
)
