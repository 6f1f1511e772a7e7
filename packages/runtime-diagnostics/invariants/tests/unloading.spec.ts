import type { Context } from '@deepseek-ai/cordis'
import type { InvariantFailure } from '@loopguard/invariants'
import { describe, expect, it } from 'vitest'
import { boot, gate, needing, provider, settle, type Booted } from './support.ts'

/** A plugin that registers a check, inside another plugin. Each ping below zero breaks its contract. */
async function checked({ ctx }: Booted) {
  let fail!: InvariantFailure
  let registered!: () => Promise<void>
  let inner!: { dispose(): Promise<void> }
  const outer = await ctx.plugin({
    name: 'outer',
    apply: async (own: Context) => {
      inner = await own.plugin({
        name: 'inner',
        inject: ['invariants'],
        apply: async (caller: Context) => {
          registered = await caller.invariants.register('pkg', (child, failure) => {
            fail = failure
            child.on('test/ping', (value) => {
              if (value < 0) failure(`${value} is negative`)
            })
          })
        },
      })
    },
  })
  return { fail: (message: string) => fail(message), registered: () => registered(), inner, outer }
}

describe('a check judges nothing while its own fiber unloads', () => {
  it.each<[string, (booted: Booted, check: Awaited<ReturnType<typeof checked>>) => Promise<void>]>([
    ['because its registration is disposed', (_booted, { registered }) => registered()],
    ['because its child is disposed', ({ registry }) => registry.registrations()[0]!.fiber!.dispose()],
    ['because the fiber of its caller goes', (_booted, { inner }) => inner.dispose()],
    ['because a fiber above its caller goes', (_booted, { outer }) => outer.dispose()],
    ['because the service goes', ({ service }) => service.dispose()],
    ['because the root goes', ({ ctx }) => ctx.fiber.dispose()],
  ])('%s', async (_why, end) => {
    const booted = await boot()
    const check = await checked(booted)
    expect(() => booted.ctx.emit('test/ping', -1)).toThrow('-1 is negative')
    const gone = end(booted, check)
    // Cordis takes the listeners away a little later; `fail` may also be called by what is still in flight.
    for (let tick = 0; tick < 10; tick++) {
      booted.ctx.emit('test/ping', -2)
      check.fail('late')
      await Promise.resolve()
    }
    await gone
    check.fail('too late')
    await settle()
    check.fail('far too late')
    expect(booted.registry.violations.map(({ message }) => message)).toEqual(['invariant violated by "pkg": -1 is negative'])
    expect(booted.errors).toHaveLength(1)
  })

  it('and what is still in flight from then judges nothing when it is loaded again', async () => {
    const { ctx, registry } = await boot()
    const inFlight = gate()
    const first = await provider(ctx, 1)
    await registry.register(
      'pkg',
      needing(['marks'], (child, fail) => {
        child.on('test/around', async (value, next) => {
          const result = await next()
          if (result !== value) fail(`${result} instead of ${value}`)
          return result
        })
      }),
    )
    const call = (): Promise<number> => ctx.waterfall('test/around', 1, () => inFlight.promise.then(() => 2))
    const before = call()
    await first.dispose()
    await provider(ctx, 2)
    await settle()
    const after = call()
    after.catch(() => {})
    inFlight.open()
    expect(await before).toBe(2)
    await expect(after).rejects.toThrow('2 instead of 1')
    expect(registry.violations).toHaveLength(1)
  })

  it('nor while the service goes and the caller, which did not ask for it, lives on', async () => {
    const { ctx, registry, service } = await boot()
    await registry.register('pkg', (child, fail) => {
      child.on('test/ping', (value) => {
        if (value < 0) fail(`${value} is negative`)
      })
    })
    const gone = service.dispose()
    for (let tick = 0; tick < 10; tick++) {
      ctx.emit('test/ping', -1)
      await Promise.resolve()
    }
    await gone
    expect(registry.violations).toEqual([])
  })

  it('nor when that is disposed amid its set-up', async () => {
    const { registry } = await boot()
    const setUp = gate()
    const registration = registry.register('pkg', async (_child, fail) => {
      await setUp.promise
      fail('late')
    })
    await settle()
    const gone = registry.registrations()[0]?.fiber?.dispose()
    setUp.open()
    await Promise.all([gone, registration])
    expect(registry.violations).toEqual([])
  })

  it('but judges from the start, while it is being set up', async () => {
    const { registry } = await boot()
    const setUp = gate()
    let fail!: InvariantFailure
    const registration = registry.register('pkg', async (_child, failure) => {
      fail = failure
      await setUp.promise
    })
    await settle()
    expect(() => fail('early')).toThrow('early')
    setUp.open()
    await registration
    expect(registry.violations).toHaveLength(1)
  })
})
