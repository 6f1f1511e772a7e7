import { Context } from '@deepseek-ai/cordis'
import { busOf, emitContained, resolveContained } from '@loopguard/cordis-internals'
import { expect, it } from 'vitest'
import { errorsOf } from './support.ts'

declare module '@deepseek-ai/cordis' {
  interface Events {
    'test/told'(first: number, second: string): unknown
  }
}

/** A listener in a plugin of that name. */
async function plugIn(ctx: Context, name: string, listener: (first: number, second: string) => unknown, global = false): Promise<Context> {
  const fiber = await ctx.plugin({ name, apply: (inner: Context) => void inner.on('test/told', listener, { global }) })
  return fiber.ctx
}

const boom = (): never => {
  throw new Error('boom')
}

it('every listener gets the arguments, in order, whatever the others do', async () => {
  const ctx = new Context()
  const errors = errorsOf(ctx)
  const heard: string[] = []
  await plugIn(ctx, 'first', (first, second) => heard.push(`first ${first} ${second}`))
  await plugIn(ctx, 'loud', boom)
  await plugIn(ctx, 'late', () => Promise.reject(new Error('rejected')))
  await plugIn(ctx, 'last', (first, second) => heard.push(`last ${first} ${second}`))
  emitContained(busOf(ctx), null, 'test/told', [1, 'x'])
  expect(heard).toEqual(['first 1 x', 'last 1 x'])
  expect(errors).toEqual(['[loud] test/told: a listener of plugin "loud" failed: boom'])
  await new Promise((resolve) => setImmediate(resolve))
  expect(errors.slice(1)).toEqual(['[late] test/told: a listener of plugin "late" failed: rejected'])
})

it('a thenable that fails is contained as a promise is', async () => {
  const ctx = new Context()
  const errors = errorsOf(ctx)
  await plugIn(ctx, 'odd', () => ({
    // oxlint-disable-next-line unicorn/no-thenable -- the fault under test
    then: (_resolve: unknown, reject: (reason: unknown) => void) => reject('no'),
  }))
  await plugIn(ctx, 'odder', () => ({
    // oxlint-disable-next-line unicorn/no-thenable -- the fault under test
    get then(): never {
      throw new Error('no then')
    },
  }))
  emitContained(busOf(ctx), null, 'test/told', [1, 'x'])
  await new Promise((resolve) => setImmediate(resolve))
  expect(errors.toSorted()).toEqual([
    '[odd] test/told: a listener of plugin "odd" failed: no',
    '[odder] test/told: a listener of plugin "odder" failed: no then',
  ])
})

it('of the listeners that a carrier lets hear, the one that failed is named', async () => {
  const ctx = new Context()
  const errors = errorsOf(ctx)
  const heard: string[] = []
  await plugIn(ctx, 'deaf', () => heard.push('deaf'))
  const chosen = await plugIn(ctx, 'chosen', boom)
  await plugIn(ctx, 'everywhere', boom, true)
  const carrier = { [Context.filter]: (listener: Context) => listener.fiber === chosen.fiber }
  emitContained(busOf(ctx), carrier, 'test/told', [1, 'x'])
  expect(heard).toEqual([])
  expect(errors).toEqual([
    '[chosen] test/told: a listener of plugin "chosen" failed: boom',
    '[everywhere] test/told: a listener of plugin "everywhere" failed: boom',
  ])
})

it('resolving delivers nothing, and a veto is the caller’s', async () => {
  const ctx = new Context()
  const heard: number[] = []
  ctx.on('test/told', (first) => heard.push(first))
  const deliver = resolveContained(busOf(ctx), null, 'test/told', [1, 'x'])
  expect(heard).toEqual([])
  deliver()
  expect(heard).toEqual([1])
  ctx.on('internal/dispatch', boom)
  expect(() => resolveContained(busOf(ctx), null, 'test/told', [2, 'x'])).toThrow('boom')
  expect(heard).toEqual([1])
})

it('the listeners are those of the resolving: a later one does not hear, a removed one does', () => {
  const ctx = new Context()
  const errors = errorsOf(ctx)
  const heard: string[] = []
  const dispose = ctx.on('test/told', () => {
    heard.push('removed')
    throw new Error('boom')
  })
  const deliver = resolveContained(busOf(ctx), null, 'test/told', [1, 'x'])
  dispose()
  ctx.on('test/told', () => heard.push('late'))
  deliver()
  expect([heard, errors]).toEqual([['removed'], ['[root] test/told: a listener of plugin "root" failed: boom']])
})

it('a listener that joins while the event is judged hears it, and is named when it fails', async () => {
  const ctx = new Context()
  const errors = errorsOf(ctx)
  await plugIn(ctx, 'old', () => undefined)
  await ctx.plugin({
    name: 'joins',
    apply: (inner: Context) =>
      void ctx.on('internal/dispatch', (_mode, name) => {
        if (name === 'test/told') inner.on('test/told', boom, { prepend: true })
      }),
  })
  emitContained(busOf(ctx), null, 'test/told', [1, 'x'])
  expect(errors).toEqual(['[joins] test/told: a listener of plugin "joins" failed: boom'])
})

it('an event that tells what has happened survives a veto, which is logged', () => {
  const ctx = new Context()
  const errors = errorsOf(ctx)
  ctx.on('internal/dispatch', boom)
  emitContained(busOf(ctx), null, 'test/told', [1, 'x'])
  expect(errors).toEqual(['[loopguard] test/told: vetoed before any listener ran: boom'])
})

it('an exporter that fails undoes nothing', async () => {
  const ctx = new Context()
  ctx.logger.exporter({ export: boom })
  const heard: string[] = []
  ctx.on('test/told', boom)
  ctx.on('test/told', () => Promise.reject(new Error('rejected')))
  ctx.on('test/told', () => heard.push('last'))
  emitContained(busOf(ctx), null, 'test/told', [1, 'x'])
  await new Promise((resolve) => setImmediate(resolve))
  expect(heard).toEqual(['last'])
})

it('a failure that says per cent is logged as it says it', async () => {
  const ctx = new Context()
  const shown: string[] = []
  ctx.logger.exporter({
    export: ({ args: [format] }) =>
      void shown.push(String(format).replaceAll(/%([a-zA-Z%])/g, (whole, char: string) => (char === '%' ? '%' : `<${whole}>`))),
  })
  await plugIn(ctx, 'loud', () => {
    throw new Error('100%s of 5%')
  })
  emitContained(busOf(ctx), null, 'test/told', [1, 'x'])
  expect(shown).toEqual(['test/told: a listener of plugin "loud" failed: 100%s of 5%'])
})

it('the bus of a context that goes on living after a plugin is the same', async () => {
  const ctx = new Context()
  const inner = (await ctx.plugin({ name: 'p', apply() {} })).ctx
  expect(busOf(inner).events).toBe(busOf(ctx).events)
})
