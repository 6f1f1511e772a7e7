import { Context } from '@deepseek-ai/cordis'
import InvariantRegistry from '@loopguard/invariants'
import { describe, expect, it } from 'vitest'
import { boot, footprint, gate, isSettled, names, needing, settle } from './support.ts'

const caller = (apply: (own: Context) => unknown) => ({ name: 'caller', inject: ['invariants'], apply })

describe('the disposer', () => {
  it('takes all of the child away and frees the name after it', async () => {
    const { ctx, registry } = await boot()
    const before = footprint(ctx)
    const cleaning = gate()
    const dispose = await registry.register('pkg', (child) => {
      child.on('test/ping', () => {})
      child.plugin({ name: 'grandchild', apply: () => {} })
      child.effect(() => () => cleaning.promise)
    })
    const gone = dispose()
    expect(await isSettled(gone)).toBe(false)
    expect(names(registry)).toEqual(['pkg'])
    expect(() => registry.register('pkg', () => {})).toThrow('already registered')
    cleaning.open()
    await gone
    expect(names(registry)).toEqual([])
    expect(footprint(ctx)).toEqual(before)
    await registry.register('pkg', () => {})
  })

  it('is idempotent: whoever calls it second waits for the same end', async () => {
    const { registry } = await boot()
    const cleaning = gate()
    const registration = registry.register('pkg', (child) => {
      child.effect(() => () => cleaning.promise)
    })
    const dispose = await registration
    const calls = [dispose(), registration(), dispose()]
    expect(await isSettled(Promise.race(calls))).toBe(false)
    cleaning.open()
    await Promise.all(calls)
    expect(names(registry)).toEqual([])
    // Late calls do not touch a new holder of the name.
    await registry.register('pkg', () => {})
    await Promise.all([dispose(), registration()])
    expect(names(registry)).toEqual(['pkg'])
  })

  it('waits for an installer that still runs, and resolves the set-up', async () => {
    const { registry } = await boot()
    const setUp = gate()
    const registration = registry.register('pkg', () => setUp.promise)
    await settle()
    const gone = registration()
    expect(await isSettled(gone)).toBe(false)
    expect(names(registry)).toEqual(['pkg'])
    setUp.open()
    await Promise.all([gone, registration])
    expect(names(registry)).toEqual([])
  })

  it('does not wait for an installer that waits for a service, and that then never runs', async () => {
    const { ctx, registry } = await boot()
    let ran = 0
    const waiting = registry.register(
      'pkg',
      needing(['marks'], () => {
        ran++
      }),
    )
    await waiting()
    await waiting
    ctx.provide('marks', { at: 1 })
    await settle()
    expect(ran).toBe(0)
    expect(names(registry)).toEqual([])
  })
})

describe('a registration goes', () => {
  it('with the fiber of its caller, which waits for it', async () => {
    const { ctx, registry } = await boot()
    const before = footprint(ctx)
    const cleaning = gate()
    const fiber = await ctx.plugin(
      caller(async (own) => {
        await own.invariants.register('pkg', (child) => {
          child.effect(() => () => cleaning.promise)
        })
      }),
    )
    await registry.register('other', () => {})
    const gone = fiber.dispose()
    expect(await isSettled(gone)).toBe(false)
    expect(names(registry)).toEqual(['pkg', 'other'])
    cleaning.open()
    await gone
    expect(names(registry)).toEqual(['other'])
    await registry.registrations()[0]?.fiber?.dispose()
    await settle()
    expect(footprint(ctx)).toEqual(before)
  })

  it('with the service, also where its caller lives on', async () => {
    const { ctx, registry, service } = await boot()
    const heard: number[] = []
    const cleaning = gate()
    const before = footprint(ctx)
    await registry.register('pkg', (child) => {
      child.on('test/ping', (value) => void heard.push(value))
      child.effect(() => () => cleaning.promise)
    })
    const gone = service.dispose()
    expect(await isSettled(gone)).toBe(false)
    cleaning.open()
    await gone
    ctx.emit('test/ping', 1)
    expect(heard).toEqual([])
    expect(names(registry)).toEqual([])
    expect(footprint(ctx).effects).toBe(before.effects - 1)
    expect(footprint(ctx).listeners['test/ping']).toBeUndefined()
  })

  it('with a service that restarts, and its caller registers anew', async () => {
    const { ctx, service } = await boot()
    let runs = 0
    await ctx.plugin(
      caller(async (own) => {
        await own.invariants.register('pkg', () => {
          runs++
        })
      }),
    )
    await service.restart()
    await settle()
    expect(runs).toBe(2)
    expect(names(ctx.invariants)).toEqual(['pkg'])
  })

  it('with its child, if that ends first', async () => {
    const { ctx, registry } = await boot()
    const before = footprint(ctx)
    await registry.register('pkg', () => {})
    const child = registry.registrations()[0]?.fiber
    await child?.dispose()
    expect(names(registry)).toEqual([])
    await settle()
    expect(footprint(ctx)).toEqual(before)
  })

  it('with its child, and the name can be taken at once by whoever hears of that', async () => {
    const { ctx, registry } = await boot()
    await registry.register('pkg', () => {})
    const child = registry.registrations()[0]?.fiber
    ctx.on('internal/status', (fiber) => {
      if (fiber === child && fiber.uid === null && !names(registry).includes('pkg')) registry.register('pkg', () => {})
    })
    await child?.dispose()
    await settle()
    expect(names(registry)).toEqual(['pkg'])
    expect(registry.registrations()[0]?.fiber).not.toBe(child)
  })

  it('with its child, before anybody else hears of that, also who listened before there was a service', async () => {
    const ctx = new Context()
    const held: string[][] = []
    ctx.on('internal/status', (fiber) => {
      if (fiber.uid === null && fiber.state === 4) held.push(names(ctx.invariants))
    })
    await ctx.plugin(InvariantRegistry)
    const dispose = await ctx.invariants.register('pkg', () => {})
    await dispose()
    expect(held).toEqual([[]])
  })

  it('with the root, once', async () => {
    const { ctx, registry, errors } = await boot()
    await registry.register('pkg', () => {})
    await ctx.plugin(caller((own) => own.invariants.register('other', () => {})))
    await ctx.fiber.dispose()
    expect(names(registry)).toEqual([])
    expect(errors).toEqual([])
  })
})

// Cordis unloads a fiber that is still starting only after its `apply`: these would never end.
describe('an apply that awaits a registration which waits for a missing service', () => {
  const waiting = caller(async (own) => {
    await own.invariants.register(
      'pkg',
      needing(['marks'], () => {}),
    )
  })

  it('does not hold up the disposal of its fiber', async () => {
    const { ctx, registry } = await boot()
    const fiber = ctx.plugin(waiting)
    await settle()
    expect(names(registry)).toEqual(['pkg'])
    await fiber.dispose()
    expect(names(registry)).toEqual([])
  })

  it('does not hold up the disposal of a fiber above it that awaits it', async () => {
    const { ctx, registry } = await boot()
    const fiber = ctx.plugin({
      name: 'group',
      apply: async (own: Context) => {
        await own.plugin(waiting)
      },
    })
    await settle()
    await fiber.dispose()
    expect(names(registry)).toEqual([])
  })

  it('does not hold up the disposal of the service, or of another that its fiber needs', async () => {
    const { ctx, registry, service } = await boot()
    const clock = await ctx.plugin({ name: 'clock', apply: (own: Context) => own.provide('clock', {}) })
    const held = ctx.plugin({ ...waiting, inject: ['invariants', 'clock'] })
    await settle()
    expect(names(registry)).toEqual(['pkg'])
    await clock.dispose()
    expect(names(registry)).toEqual([])
    await ctx.plugin({ name: 'clock', apply: (own: Context) => own.provide('clock', {}) })
    await settle()
    expect(names(registry)).toEqual(['pkg'])
    await service.dispose()
    expect(names(registry)).toEqual([])
    await held.dispose()
  })

  it('is withdrawn at once when its fiber had lost a service before it registered', async () => {
    const { ctx, registry } = await boot()
    const clock = await ctx.plugin({ name: 'clock', apply: (own: Context) => own.provide('clock', {}) })
    const slow = gate()
    ctx.plugin({
      ...waiting,
      inject: ['invariants', 'clock'],
      apply: async (own: Context) => {
        const { invariants } = own
        await slow.promise
        await invariants.register(
          'pkg',
          needing(['marks'], () => {}),
        )
      },
    })
    await settle()
    const gone = clock.dispose()
    await settle()
    slow.open()
    await gone
    expect(names(registry)).toEqual([])
  })

  it('goes on waiting through the coming and going of others', async () => {
    const { ctx, registry } = await boot()
    ctx.provide('flag')
    const fiber = ctx.plugin({ ...waiting, inject: ['invariants', 'flag'] })
    await settle()
    const other = await ctx.plugin({ name: 'other', apply: (own: Context) => own.provide('unrelated', {}) })
    await other.dispose()
    await settle()
    expect(names(registry)).toEqual(['pkg'])
    ctx.provide('marks', { at: 1 })
    await fiber
    expect(names(registry)).toEqual(['pkg'])
  })
})
