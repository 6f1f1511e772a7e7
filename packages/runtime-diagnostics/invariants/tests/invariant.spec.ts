import { type Context, type Fiber } from '@deepseek-ai/cordis'
import InvariantRegistry, { type RegistrationInfo } from '@loopguard/invariants'
import * as own from '@loopguard/invariants/invariant'
import { describe, expect, it } from 'vitest'
import { boot, gate, names, settle, footprint, needing } from './support.ts'

describe('a name is free again once its fiber is gone', () => {
  it('is a plugin module', () => {
    expect(own.name).toBe('invariants-invariant')
    expect(own.inject).toEqual(['invariants'])
    expect(Object.keys(own).toSorted()).toEqual(['apply', 'inject', 'name'])
  })

  it('finds nothing, however a registration ends', async () => {
    const { ctx, registry, errors } = await boot()
    const companion = await ctx.plugin(own)
    expect(names(registry)).toEqual(['@loopguard/invariants'])
    const dispose = await registry.register('by-disposer', () => {})
    await dispose()
    await registry.register('by-child', () => {})
    await registry.registrations().at(-1)?.fiber?.dispose()
    await expect(registry.register('by-failure', () => Promise.reject(new Error('no set-up')))()).rejects.toThrow('no set-up')
    await registry.register(
      'by-waiting',
      needing(['marks'], () => {}),
    )()
    const caller = await ctx.plugin({
      name: 'x',
      inject: ['invariants'],
      apply: (mine: Context) => mine.invariants.register('by-caller', () => {}),
    })
    await caller.dispose()
    const setUp = gate()
    const inFlight = registry.register('in-flight', () => setUp.promise)
    const gone = inFlight()
    setUp.open()
    await gone
    await companion.dispose()
    await settle()
    expect(names(registry)).toEqual([])
    expect(registry.violations).toEqual([])
    expect(errors.map(({ args }) => String(args[0]))).toEqual(['Error: no set-up'])
  })

  it('trips when a registry frees a name only some time after its fiber has gone', async () => {
    /** The mutant: it frees the names, but only some time after the fibers have gone. */
    class Late extends InvariantRegistry {
      private readonly late: RegistrationInfo[] = []
      override registrations(): RegistrationInfo[] {
        const now = super.registrations()
        for (const each of now) if (!this.late.some(({ fiber }) => fiber === each.fiber)) this.late.push(each)
        return this.late
      }
    }
    const { ctx } = await boot(undefined, Late)
    const emitted: string[] = []
    ctx.on('invariants/violation', ({ message }) => void emitted.push(message))
    await ctx.plugin(own)
    const before = footprint(ctx)
    const dispose = await ctx.invariants.register('slow', () => {})
    expect(ctx.invariants.registrations()).toHaveLength(2)
    await dispose()
    const message = 'invariant violated by "@loopguard/invariants": the name "slow" is still held although its fiber is gone'
    expect(ctx.invariants.violations.map((each) => each.message)).toEqual([message])
    expect(emitted).toEqual([message])
    // The transition of the fiber in which the check ran was not broken off.
    expect(footprint(ctx)).toEqual(before)
  })

  it('needs no more of the registry than what it reads', async () => {
    const { registry } = await boot()
    const dispose = await registry.register('pkg', () => {})
    const [held] = registry.registrations()
    expect(held).toEqual({ packageName: 'pkg', selected: true, fiber: held?.fiber as Fiber })
    await dispose()
    expect(held?.fiber?.uid).toBeNull()
    expect(registry.registrations()).toEqual([])
  })
})
