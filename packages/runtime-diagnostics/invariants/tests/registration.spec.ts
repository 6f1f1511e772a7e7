import type { Context } from '@deepseek-ai/cordis'
import { describe, expect, it } from 'vitest'
import { boot, gate, isSettled, names, needing, provider, settle } from './support.ts'

describe('a registration', () => {
  it('runs its installer once, in a child of the caller, and is awaited', async () => {
    const { ctx, registry } = await boot()
    const seen: Context[] = []
    let caller!: Context
    await ctx.plugin({
      name: 'caller',
      inject: ['invariants'],
      apply: async (own: Context) => {
        caller = own
        await own.invariants.register('pkg', (child) => {
          seen.push(child)
        })
      },
    })
    expect(seen).toHaveLength(1)
    expect(seen[0]?.fiber.parent.fiber).toBe(caller.fiber)
    expect(registry.registrations()).toEqual([{ packageName: 'pkg', selected: true, fiber: seen[0]?.fiber }])
  })

  it('has the context of the caller, not that of the service, above its child', async () => {
    const { ctx } = await boot()
    const scoped = ctx.isolate('marks')
    scoped.provide('marks', { at: 2 })
    ctx.provide('marks', { at: 1 })
    const seen: unknown[] = []
    const installer = needing(['marks'], (child) => {
      seen.push(child.marks.at, 'tag' in child ? child.tag : undefined)
    })
    await scoped.invariants.register('scoped', installer)
    await ctx.extend({ tag: 'mine' }).invariants.register('tagged', installer)
    expect(seen).toEqual([2, undefined, 1, 'mine'])
  })

  it('reads, in its child, a service that the caller alone can see', async () => {
    const { ctx } = await boot()
    const seen: number[] = []
    await ctx.plugin({
      name: 'provider',
      inject: ['invariants'],
      apply: async (own: Context) => {
        own.provide('marks', { at: 7 })
        await own.invariants.register('pkg', (child) => {
          seen.push(child.marks.at)
        })
      },
    })
    expect(seen).toEqual([7])
  })

  it('is awaited together with an asynchronous installer', async () => {
    const { registry } = await boot()
    const { promise, open } = gate()
    const registration = registry.register('pkg', () => promise)
    expect(await isSettled(registration)).toBe(false)
    open()
    const dispose = await registration
    expect(dispose).toBeTypeOf('function')
    expect(dispose).not.toHaveProperty('then')
    expect(names(registry)).toEqual(['pkg'])
  })

  it('has an active child once it has been awaited', async () => {
    const { ctx, registry } = await boot()
    const heard: number[] = []
    await registry.register('pkg', (child) => {
      child.on('test/ping', (value) => void heard.push(value))
    })
    expect(registry.registrations()[0]?.fiber?.state).toBe(2)
    ctx.emit('test/ping', 1)
    expect(heard).toEqual([1])
  })

  it('holds its name, filtered out or not', async () => {
    const { registry } = await boot({ package_blocklist: ['barred'] })
    const barred = await registry.register('barred', () => {
      throw new Error('never runs')
    })
    expect(registry.registrations()).toEqual([{ packageName: 'barred', selected: false, fiber: undefined }])
    expect(() => registry.register('barred', () => {})).toThrow('already registered')
    await barred()
    expect(names(registry)).toEqual([])
    await registry.register('barred', () => {})
  })

  it('can be used where Cordis takes a disposer', async () => {
    const { ctx, registry } = await boot()
    const fiber = await ctx.plugin({ name: 'x', inject: ['invariants'], apply: (own: Context) => own.invariants.register('pkg', () => {}) })
    await settle()
    expect(names(registry)).toEqual(['pkg'])
    const effect = ctx.effect(function* () {
      yield registry.register('nested', () => {})
    })
    expect(names(registry)).toEqual(['pkg', 'nested'])
    await effect()
    await fiber.dispose()
    expect(names(registry)).toEqual([])
  })
})

describe('an installer that needs a service', () => {
  it('waits for it, and the registration with it', async () => {
    const { ctx, registry } = await boot()
    const seen: number[] = []
    const registration = registry.register(
      'pkg',
      needing(['marks'], (child) => {
        seen.push(child.marks.at)
      }),
    )
    expect(await isSettled(registration)).toBe(false)
    expect(seen).toEqual([])
    expect(names(registry)).toEqual(['pkg'])
    ctx.provide('marks', { at: 3 })
    await registration
    expect(seen).toEqual([3])
  })

  it('runs anew when it is replaced, and not while it is missing', async () => {
    const { ctx, registry } = await boot()
    const seen: number[] = []
    const first = await provider(ctx, 1)
    await registry.register(
      'pkg',
      needing(['marks'], (child) => {
        seen.push(child.marks.at)
        child.on('test/ping', (value) => void seen.push(value))
      }),
    )
    await first.dispose()
    ctx.emit('test/ping', 10)
    expect(names(registry)).toEqual(['pkg'])
    await provider(ctx, 2)
    await settle()
    ctx.emit('test/ping', 20)
    expect(seen).toEqual([1, 2, 20])
  })
})
