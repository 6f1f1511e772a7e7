import { Context } from '@deepseek-ai/cordis'
import InvariantRegistry from '@loopguard/invariants'
import { companion } from '@loopguard/invariants/companion'
import * as own from '@loopguard/invariants/invariant'
import { expect, it } from 'vitest'
import { boot, footprint, names, needing, provider, settle } from './support.ts'

const pings = companion({
  name: 'ping-invariant',
  packageName: '@test/ping',
  inject: ['marks'],
  install(ctx, fail) {
    ctx.on('test/ping', (value) => {
      if (value < 0) fail(`${value}`)
    })
    ctx.on('test/around', (_value, next) => next())
  },
})

it('a companion reloaded a hundred times leaves the counts of listeners, effects and plugins as they were', async () => {
  const { ctx, registry } = await boot()
  await ctx.plugin(own)
  ctx.provide('marks', { at: 1 })
  const before = footprint(ctx)
  const fiber = await ctx.plugin(pings)
  const loaded = footprint(ctx)
  const effects = fiber.getEffects().length
  for (let round = 0; round < 50; round++) {
    await fiber.restart()
    expect(footprint(ctx)).toEqual(loaded)
    expect(fiber.getEffects()).toHaveLength(effects)
  }
  await fiber.dispose()
  for (let round = 0; round < 50; round++) {
    const again = await ctx.plugin(pings)
    expect(footprint(ctx)).toEqual(loaded)
    await again.dispose()
  }
  expect(footprint(ctx)).toEqual(before)
  expect(names(registry)).toEqual(['@loopguard/invariants'])
  expect(registry.violations).toEqual([])
}, 60_000)

it('the service reloaded a hundred times, companions in place, leaves them as they were', async () => {
  const ctx = new Context()
  const marks = await provider(ctx, 1)
  const service = await ctx.plugin(InvariantRegistry)
  await ctx.plugin(own)
  await ctx.plugin(pings)
  const loaded = footprint(ctx)
  for (let round = 0; round < 100; round++) {
    await service.restart()
    await settle()
    expect(footprint(ctx)).toEqual(loaded)
    expect(names(ctx.invariants).toSorted()).toEqual(['@loopguard/invariants', '@test/ping'])
    expect(ctx.invariants.violations).toEqual([])
  }
  await service.dispose()
  await settle()
  expect(footprint(ctx).listeners).not.toHaveProperty('test/ping')
  await marks.dispose()
}, 60_000)

it('a registration made and withdrawn a hundred times, in whatever way it ends, leaves nothing', async () => {
  const { ctx, registry } = await boot()
  const before = footprint(ctx)
  for (let round = 0; round < 100; round++) {
    const dispose = await registry.register('pkg', (child) => void child.on('test/ping', () => {}))
    await dispose()
    await registry
      .register('pkg', () => Promise.reject(new Error('no set-up')))()
      .catch(() => {})
    await registry.register(
      'pkg',
      needing(['nothing'], () => {}),
    )()
  }
  expect(footprint(ctx)).toEqual(before)
  expect(names(registry)).toEqual([])
}, 60_000)
