import { readFile } from 'node:fs/promises'
import { Context, Service } from '@deepseek-ai/cordis'
import InvariantRegistry from '@loopguard/invariants'
import { companion, isUnloading, type InvariantFailure, type InvariantInstaller } from '@loopguard/invariants/companion'
import { describe, expect, it } from 'vitest'
import { boot, footprint, gate, isSettled, names, provider, settle } from './support.ts'

/** Checks that pings never fall. State lives in the closure. */
const rising = (inject: string[] = []) =>
  companion({
    name: 'ping-invariant',
    packageName: '@test/ping',
    inject,
    install(ctx, fail) {
      let last = -Infinity
      ctx.on('test/ping', (value) => {
        if (value < last) fail(`${value} after ${last}`)
        last = value
      })
    },
  })

describe('a companion', () => {
  it('is a plugin, in parts', () => {
    const { name, inject, apply } = rising(['marks', 'invariants', 'marks'])
    expect({ name, inject }).toEqual({ name: 'ping-invariant', inject: ['invariants', 'marks'] })
    expect(apply).toBeTypeOf('function')
  })

  it('registers its package and attributes what it finds', async () => {
    const { ctx, registry } = await boot()
    const fiber = await ctx.plugin(rising())
    expect(fiber.name).toBe('ping-invariant')
    expect(names(registry)).toEqual(['@test/ping'])
    ctx.emit('test/ping', 2)
    expect(() => ctx.emit('test/ping', 1)).toThrow('invariant violated by "@test/ping": 1 after 2')
    expect(registry.violations.map(({ packageName }) => packageName)).toEqual(['@test/ping'])
  })

  it('waits for the service, and for what it needs besides', async () => {
    const ctx = new Context()
    const fiber = ctx.plugin(rising(['marks']))
    await settle()
    const service = await ctx.plugin(InvariantRegistry)
    await settle()
    expect(names(ctx.invariants)).toEqual([])
    ctx.provide('marks', { at: 1 })
    await fiber
    expect(names(ctx.invariants)).toEqual(['@test/ping'])
    await service.dispose()
    await settle()
    expect(footprint(ctx).listeners['test/ping']).toBeUndefined()
    await ctx.plugin(InvariantRegistry)
    await settle()
    expect(names(ctx.invariants)).toEqual(['@test/ping'])
  })

  it('has the services that it names in the context of its checks', async () => {
    const { ctx } = await boot()
    const seen: number[] = []
    await ctx.plugin({ name: 'provider', apply: (own: Context) => own.provide('marks', { at: 5 }) })
    await ctx.plugin(
      companion({
        name: 'marks-invariant',
        packageName: '@test/marks',
        inject: ['marks'],
        install: (child) => {
          seen.push(child.marks.at)
        },
      }),
    )
    expect(seen).toEqual([5])
  })

  it('is active once its asynchronous set-up is through, and fails with it', async () => {
    const { ctx, registry } = await boot()
    const setUp = gate()
    const slow = companion({ name: 'slow-invariant', packageName: '@test/slow', install: () => setUp.promise })
    const fiber = ctx.plugin(slow)
    expect(await isSettled(fiber)).toBe(false)
    setUp.open()
    await fiber
    await fiber.dispose()
    const broken = companion({ name: 'bad-invariant', packageName: '@test/slow', install: () => Promise.reject(new Error('no set-up')) })
    await expect(ctx.plugin(broken)).rejects.toThrow('no set-up')
    expect(names(registry)).toEqual([])
  })

  it('starts with fresh state at each activation', async () => {
    const { ctx } = await boot()
    const fiber = await ctx.plugin(rising())
    ctx.emit('test/ping', 9)
    await fiber.restart()
    ctx.emit('test/ping', 1)
    expect(() => ctx.emit('test/ping', 0)).toThrow('0 after 1')
  })

  it('loaded twice fails loud, and the first one stays', async () => {
    const { ctx, registry } = await boot()
    await ctx.plugin(rising())
    await expect(ctx.plugin(rising())).rejects.toThrow('already registered')
    expect(names(registry)).toEqual(['@test/ping'])
  })

  it('of a package that is left out installs nothing', async () => {
    const { ctx, registry } = await boot({ package_blocklist: ['ping'] })
    await ctx.plugin(rising())
    ctx.emit('test/ping', 2)
    ctx.emit('test/ping', 1)
    expect(registry.registrations()).toEqual([{ packageName: '@test/ping', selected: false, fiber: undefined }])
  })

  it('leaves nothing behind', async () => {
    const { ctx } = await boot()
    const before = footprint(ctx)
    const fiber = await ctx.plugin(rising())
    expect(footprint(ctx)).not.toEqual(before)
    await fiber.dispose()
    expect(footprint(ctx)).toEqual(before)
  })
})

// What the other harness' `ctx.invariants` may do: its `fail` always throws, and its disposer may or may not be thenable.
type Fiber = PromiseLike<unknown> & { dispose(): Promise<void> }
const disposers: Record<string, (fiber: Fiber) => (() => unknown) | PromiseLike<() => unknown>> = {
  'a plain disposer': (fiber) => () => fiber.dispose(),
  'a promise of one': async (fiber) => {
    await fiber
    return () => fiber.dispose()
  },
  'a disposer that can be awaited': (fiber) => {
    const dispose = (): Promise<void> => fiber.dispose()
    const then: PromiseLike<() => Promise<void>>['then'] = (ok, bad) =>
      Promise.resolve(fiber)
        .then(() => dispose)
        .then(ok, bad)
    // oxlint-disable-next-line unicorn/no-thenable -- this is the shape in question
    return Object.assign((): Promise<void> => fiber.dispose(), { then })
  },
}

function foreign(shape: keyof typeof disposers, parent: string) {
  const failures: string[] = []
  class Foreign extends Service {
    private readonly own: Context
    constructor(ctx: Context) {
      super(ctx, 'invariants')
      this.own = ctx
    }
    register(packageName: string, installer: InvariantInstaller) {
      const fail: InvariantFailure = (message) => {
        failures.push(`${packageName}: ${message}`)
        throw new Error(message)
      }
      const { inject = [] } = installer
      const above = parent === 'caller' ? this.ctx : this.own
      return disposers[shape]!(above.plugin({ name: packageName, inject, apply: (child: Context) => installer(child, fail) }))
    }
  }
  return { Foreign, failures }
}

describe('a companion in a harness with a registry of its own', () => {
  const kinds = Object.keys(disposers).flatMap((shape) => [[shape, 'caller'] as const, [shape, 'service'] as const])

  it.each(kinds)('registers, fails, is silent while it unloads, and goes: %s, child of the %s', async (shape, parent) => {
    const ctx = new Context()
    const { Foreign, failures } = foreign(shape, parent)
    await ctx.plugin(Foreign)
    const before = footprint(ctx)
    const fiber = await ctx.plugin(rising())
    await settle()
    ctx.emit('test/ping', 2)
    expect(() => ctx.emit('test/ping', 1)).toThrow('1 after 2')
    ctx.emit('test/ping', 2)
    const gone = fiber.dispose()
    ctx.emit('test/ping', -1)
    await gone
    await settle()
    expect(failures).toEqual(['@test/ping: 1 after 2'])
    expect(footprint(ctx)).toEqual(before)
  })
})

it('a check of a companion that was reloaded meanwhile judges nothing there', async () => {
  const ctx = new Context()
  const { Foreign, failures } = foreign('a promise of one', 'caller')
  await ctx.plugin(Foreign)
  const fiber = await ctx.plugin(
    companion({
      name: 'around-invariant',
      packageName: '@test/around',
      install(child, fail) {
        child.on('test/around', async (value, next) => {
          const result = await next()
          if (result !== value) fail(`${result} instead of ${value}`)
          return result
        })
      },
    }),
  )
  const inFlight = gate()
  const call = ctx.waterfall('test/around', 1, () => inFlight.promise.then(() => 2))
  await fiber.restart()
  inFlight.open()
  expect(await call).toBe(2)
  await expect(ctx.waterfall('test/around', 1, async () => 3)).rejects.toThrow('3 instead of 1')
  expect(failures).toEqual(['@test/around: 3 instead of 1'])
})

it('a companion can read its services also where the registry makes the child its own', async () => {
  const ctx = new Context()
  await ctx.plugin(foreign('a promise of one', 'service').Foreign)
  await provider(ctx, 5)
  const seen: number[] = []
  const install = (child: Context): void => void seen.push(child.marks.at)
  await ctx.plugin(companion({ name: 'marks-invariant', packageName: '@test/marks', inject: ['marks'], install }))
  expect(seen).toEqual([5])
})

describe('the helper', () => {
  it('loads its own files and what reads Cordis for it, and augments nothing', async () => {
    for (const file of ['companion.ts', 'contract.ts', 'dispatch.ts']) {
      const source = await readFile(new URL(`../src/${file}`, import.meta.url), 'utf8')
      const imports = source.split('\n').filter((line) => /^\s*(import|export)\b.*\bfrom\b|\bimport\(|^import\b/.test(line))
      const own = /'(\.\/(contract|dispatch)\.ts|@loopguard\/cordis-internals)'$/
      expect(imports.filter((line) => !own.test(line) && !/^import type .* from '@deepseek-ai\/cordis'$/.test(line))).toEqual([])
      expect(source).not.toContain('declare module')
    }
  })

  it('tells whether a context is on its way out', async () => {
    const { ctx } = await boot()
    const seen: boolean[] = []
    const fiber = await ctx.plugin({
      name: 'x',
      apply: (own: Context) => {
        seen.push(isUnloading(own))
        own.effect(() => () => void seen.push(isUnloading(own)))
      },
    })
    expect(isUnloading(fiber.ctx)).toBe(false)
    await fiber.dispose()
    expect(seen).toEqual([false, true])
    expect(isUnloading(fiber.ctx)).toBe(true)
    expect(isUnloading(ctx)).toBe(false)
  })
})
