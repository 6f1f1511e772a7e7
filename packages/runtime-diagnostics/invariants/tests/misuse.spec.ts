import type { Context } from '@deepseek-ai/cordis'
import type { InvariantInstaller } from '@loopguard/invariants'
import { describe, expect, it } from 'vitest'
import { boot, footprint, joined, names, settle } from './support.ts'

describe('a registration is refused', () => {
  it.each([
    ['', "packageName must be a non-blank string, got ''"],
    [' \n', "packageName must be a non-blank string, got ' \\n'"],
    [undefined, 'packageName must be a non-blank string, got undefined'],
    [null, 'packageName must be a non-blank string, got null'],
    [5, 'packageName must be a non-blank string, got 5'],
    [Object.create(null), 'packageName must be a non-blank string, got [Object: null prototype] {}'],
    [' pkg', "packageName must not have surrounding whitespace, got ' pkg'"],
    ['pkg\n', "packageName must not have surrounding whitespace, got 'pkg\\n'"],
    ['a pkg', "packageName must not contain whitespace, got 'a pkg'"],
    ['a\u00a0b', "packageName must not contain whitespace, got 'a\u00a0b'"],
  ])('for the name %j', async (packageName, message) => {
    const { registry } = await boot()
    expect(() => registry.register(packageName as string, () => {})).toThrow(
      expect.objectContaining({ name: 'RegistrationError', code: 'INVARIANT_BAD_NAME', message: `invariants: ${message}` }),
    )
    expect(names(registry)).toEqual([])
  })

  it.each([[undefined], [null], [{ apply() {} }]])('for the installer %j', async (installer) => {
    const { registry } = await boot()
    expect(() => registry.register('pkg', installer as unknown as InvariantInstaller)).toThrow(
      expect.objectContaining({
        code: 'INVARIANT_BAD_INSTALLER',
        message: expect.stringContaining('the installer of "pkg" must be a function, got ') as string,
      }),
    )
    expect(names(registry)).toEqual([])
  })

  it('for a name that is held, whoever holds it, and leaves the holder alone', async () => {
    const { ctx, registry } = await boot()
    await registry.register('pkg', () => {})
    const [holder] = registry.registrations()
    const refused = { code: 'INVARIANT_NAME_TAKEN', message: 'invariants: "pkg" is already registered' }
    expect(() => registry.register('pkg', () => {})).toThrow(expect.objectContaining(refused))
    await expect(
      ctx.plugin({
        name: 'second',
        inject: ['invariants'],
        apply: async (own: Context) => {
          await own.invariants.register('pkg', () => {})
        },
      }),
    ).rejects.toMatchObject(refused)
    expect(registry.registrations()).toEqual([holder])
  })

  it('on a fiber that is gone, without reserving the name', async () => {
    const { ctx, registry } = await boot()
    let kept!: Context['invariants']
    const fiber = await ctx.plugin({
      name: 'gone',
      inject: ['invariants'],
      apply: (own: Context) => {
        kept = own.invariants
      },
    })
    await fiber.dispose()
    expect(() => kept.register('pkg', () => {})).toThrow(expect.objectContaining({ code: 'INACTIVE_EFFECT' }))
    expect(names(registry)).toEqual([])
    await registry.register('pkg', () => {})
  })

  it('on a fiber that is unloading, without reserving the name', async () => {
    const { ctx, registry } = await boot()
    const thrown: unknown[] = []
    const fiber = await ctx.plugin({
      name: 'unloading',
      inject: ['invariants'],
      apply: (own: Context) => {
        const kept = own.invariants
        own.effect(() => () => {
          try {
            kept.register('pkg', () => {})
          } catch (error) {
            thrown.push(error)
          }
        })
      },
    })
    await fiber.dispose()
    expect(thrown).toMatchObject([{ code: 'INACTIVE_EFFECT' }])
    expect(names(registry)).toEqual([])
  })

  it('once the service unloads, also where the caller lives on', async () => {
    const { ctx, registry, service } = await boot()
    const before = footprint(ctx)
    const gone = service.dispose()
    const refused = {
      code: 'INVARIANT_REGISTRY_GONE',
      message: 'invariants: "pkg" cannot be registered: the registry is inactive',
    }
    expect(() => registry.register('pkg', () => {})).toThrow(expect.objectContaining(refused))
    await gone
    await settle()
    expect(() => registry.register('pkg', () => {})).toThrow(expect.objectContaining(refused))
    expect(footprint(ctx).effects).toBeLessThan(before.effects)
  })
})

describe('a child that cannot be made', () => {
  it('rejects the registration, is logged also when nobody awaits that, and frees the name again', async () => {
    const { ctx, registry, errors } = await boot()
    const off = ctx.on('internal/plugin', (fiber) => {
      if (fiber.name.includes('pkg') && fiber.uid !== null) throw new Error('no plugins today')
    })
    await expect(joined(registry.register('pkg', () => {}))).rejects.toThrow('no plugins today')
    expect(names(registry)).toEqual([])
    const logged = errors.length
    registry.register('pkg', () => {})
    off()
    await settle()
    expect(errors.length).toBeGreaterThan(logged)
    expect(errors.at(-1)?.args.map(String).join()).toContain('could not be set up')
    expect(names(registry)).toEqual([])
    await registry.register('pkg', () => {})
  })
})
