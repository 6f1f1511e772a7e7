import type { Context } from '@deepseek-ai/cordis'
import type { InvariantInstaller, Registration } from '@loopguard/invariants'
import { describe, expect, it } from 'vitest'
import { boot, footprint, gate, isSettled, joined, names, needing, provider, settle } from './support.ts'

describe('an installer that fails', () => {
  it.each<[string, InvariantInstaller]>([
    [
      'synchronously',
      (child) => {
        child.on('test/ping', () => {})
        throw Object.assign(new Error('no set-up'), { code: 'MINE' })
      },
    ],
    [
      'asynchronously',
      async (child) => {
        child.on('test/ping', () => {})
        await settle()
        throw Object.assign(new Error('no set-up'), { code: 'MINE' })
      },
    ],
  ])('%s rejects the registration with its error once everything is rolled back', async (_when, installer) => {
    const { ctx, registry, errors } = await boot()
    const before = footprint(ctx)
    await expect(joined(registry.register('pkg', installer))).rejects.toMatchObject({ message: 'no set-up', code: 'MINE' })
    expect(names(registry)).toEqual([])
    expect(footprint(ctx)).toEqual(before)
    expect(errors).toHaveLength(1)
    await registry.register('pkg', () => {})
  })

  it('rejects with the very value, whatever that is', async () => {
    const { registry } = await boot()
    for (const value of ['text', undefined, Object.freeze(new Error('frozen'))]) {
      const seen = await registry
        .register('pkg', () => Promise.reject(value))
        .then(
          () => 'resolved',
          (error: unknown) => ({ error }),
        )
      expect(seen).toEqual({ error: value })
    }
  })

  it('frees its name only after the child has gone', async () => {
    const { registry } = await boot()
    const cleaning = gate()
    const registration = registry.register('pkg', (child) => {
      child.effect(() => () => cleaning.promise)
      throw new Error('no set-up')
    })
    expect(await isSettled(registration)).toBe(false)
    expect(names(registry)).toEqual(['pkg'])
    cleaning.open()
    await expect(joined(registration)).rejects.toThrow('no set-up')
    expect(names(registry)).toEqual([])
  })

  it('is logged and frees its name also when nobody awaits the registration', async () => {
    const { registry, errors } = await boot()
    registry.register('pkg', () => {
      throw new Error('no set-up')
    })
    await settle()
    expect(names(registry)).toEqual([])
    expect(errors.map(({ args }) => String(args[0]))).toEqual(['Error: no set-up'])
  })

  it('on a later run, with a service that was replaced, rolls back too', async () => {
    const { ctx, registry, errors } = await boot()
    let runs = 0
    const first = await provider(ctx, 1)
    const dispose = await registry.register(
      'pkg',
      needing(['marks'], () => {
        if (++runs === 2) throw new Error('no second set-up')
      }),
    )
    await first.dispose()
    await provider(ctx, 2)
    await settle()
    expect(runs).toBe(2)
    expect(names(registry)).toEqual([])
    expect(errors.map(({ args }) => String(args[0]))).toEqual(['Error: no second set-up'])
    await dispose()
  })

  it('fails a plugin that awaits the registration', async () => {
    const { ctx } = await boot()
    const apply = async (own: Context): Promise<void> => {
      await own.invariants.register('pkg', () => Promise.reject(new Error('no set-up')))
    }
    await expect(ctx.plugin({ name: 'caller', inject: ['invariants'], apply })).rejects.toThrow('no set-up')
  })
})

it('a child whose start Cordis refuses is rolled back with the cause', async () => {
  const { ctx, registry } = await boot()
  ctx.on('internal/config', function (_config: unknown, next) {
    if (this.name.includes('pkg')) throw new Error('config refused')
    return next() as unknown
  })
  await expect(joined(registry.register('pkg', () => {}))).rejects.toThrow('config refused')
  expect(names(registry)).toEqual([])
})

describe('a disposer called during the set-up', () => {
  it('joins it, and rejects with the error of an installer that fails', async () => {
    const { registry } = await boot()
    const setUp = gate()
    const registration = registry.register('pkg', () => setUp.promise)
    const gone = [registration(), registration()]
    const checked = [...gone, joined(registration)].map((each) => expect(each).rejects.toThrow('no set-up'))
    await settle()
    setUp.fail(new Error('no set-up'))
    await Promise.all(checked)
    expect(names(registry)).toEqual([])
    await expect(registration()).resolves.toBeUndefined()
  })

  it('rejects with the very value that was thrown, as awaiting does', async () => {
    const { registry } = await boot()
    await expect(registry.register('pkg', () => Promise.reject('text'))()).rejects.toBe('text')
  })

  it('of a plugin that unloads meanwhile, rejects too', async () => {
    const { ctx, registry } = await boot()
    const setUp = gate()
    let registration!: Registration
    const fiber = await ctx.plugin({
      name: 'caller',
      inject: ['invariants'],
      apply: (own: Context) => {
        registration = own.invariants.register('pkg', () => setUp.promise)
      },
    })
    const gone = fiber.dispose()
    setUp.fail(new Error('no set-up'))
    await expect(joined(registration)).rejects.toThrow('no set-up')
    await gone
    expect(names(registry)).toEqual([])
  })
})
