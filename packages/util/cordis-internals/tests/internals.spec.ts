import { Context, Service } from '@deepseek-ai/cordis'
import {
  busOf,
  hears,
  hooksOf,
  isHeard,
  isLeaving,
  isUnloading,
  type Listener,
  listenersOf,
  ownerAt,
  plain,
  untraced,
  withoutShadow,
} from '@loopguard/cordis-internals'
import { expect, it } from 'vitest'

// One test for each thing that Cordis keeps to itself and that this package reads: red when a release of Cordis moves it.

declare module '@deepseek-ai/cordis' {
  interface Context {
    internalsCounter: Counter
  }
  interface Events {
    'test/heard'(): unknown
  }
}

class Counter extends Service {
  count = 0
  constructor(ctx: Context) {
    super(ctx, 'internalsCounter')
  }
}

it('`cordis.original`: the object behind a traced service', async () => {
  const ctx = new Context()
  let made: Counter | undefined
  await ctx.plugin({
    name: 'counter',
    apply: (own: Context) => {
      made = new Counter(own)
    },
  })
  expect(ctx.internalsCounter).not.toBe(made)
  expect(plain(ctx.internalsCounter)).toBe(plain(made!))
  expect(Object.getOwnPropertySymbols(plain(ctx.events))).not.toContain(Symbol.for('cordis.original'))
})

it('`cordis.tracker`: without a shadow a method is the very one of the class, and `this.ctx` is the caller’s all the same', async () => {
  class Bare extends Counter {
    constructor(ctx: Context) {
      super(ctx)
      withoutShadow(this)
    }

    whose(): string {
      return this.ctx.fiber.name
    }
  }
  const ctx = new Context()
  await ctx.plugin({ name: 'counter', apply: (own: Context) => void new Bare(own) })
  let caller: string | undefined
  await ctx.plugin({
    name: 'caller',
    inject: ['internalsCounter'],
    apply(own: Context) {
      const service = own.internalsCounter as Bare
      expect(Reflect.get(service, 'whose')).toBe(Reflect.get(Bare.prototype, 'whose'))
      caller = service.whose()
    },
  })
  expect(caller).toBe('caller')
})

it('an object that Cordis does not trace is its own original', () => {
  const own = {}
  expect(plain(own)).toBe(own)
})

it('`_hooks`: the listeners of an event, with the context of each, as a copy', async () => {
  const ctx = new Context()
  const bus = busOf(ctx)
  expect(hooksOf(bus, 'test/heard')).toEqual([])
  expect(isHeard(bus, 'test/heard')).toBe(false)
  const first = await ctx.plugin({ name: 'first', apply: (own: Context) => void own.on('test/heard', () => {}) })
  await ctx.plugin({ name: 'second', apply: (own: Context) => void own.on('test/heard', () => {}, { global: true }) })
  const hooks = hooksOf(bus, 'test/heard')
  expect(hooks.map((hook) => [hook.ctx.fiber.name, hook.global === true])).toEqual([
    ['first', false],
    ['second', true],
  ])
  expect(isHeard(bus, 'test/heard')).toBe(true)
  await first.dispose()
  expect([hooks.length, hooksOf(bus, 'test/heard').length]).toEqual([2, 1])
})

it('the listeners of an event are those that Cordis resolves, and who watches dispatches is told as by Cordis', async () => {
  const ctx = new Context()
  const bus = busOf(ctx)
  const heard: unknown[] = []
  for (const name of ['a', 'b']) {
    await ctx.plugin({
      name,
      apply(own: Context) {
        own.on('test/heard', function (this: unknown, ...args: unknown[]) {
          heard.push([name, this, args])
        })
      },
    })
  }
  const carriers = [null, { [Context.filter]: (listener: Context) => listener.fiber.name === 'b' }, { [Context.filter]: () => false }]
  const call = (listeners: readonly Listener[]): unknown[] => {
    for (const listener of listeners) listener(1, 2)
    return heard.splice(0)
  }
  const resolved = carriers.map((carrier) => call(listenersOf(bus, 'emit', carrier, 'test/heard', [])))
  expect(resolved.map((calls) => calls.length)).toEqual([2, 1, 0])
  const cordis = carriers.map((carrier) =>
    call(bus.events.dispatch('emit', carrier === null ? ['test/heard'] : [carrier, 'test/heard']) as Listener[]),
  )
  expect(resolved).toEqual(cordis)
  const seen: unknown[] = []
  ctx.on('internal/dispatch', (mode, name, args, carrier) => void seen.push([mode, name, args, carrier]))
  const [, carrier] = carriers
  expect(call(listenersOf(bus, 'waterfall', carrier!, 'test/heard', [1]))).toEqual(cordis[1])
  expect(listenersOf(bus, 'emit', null, 'test/none' as never, [])).toEqual([])
  const ours = seen.splice(0)
  bus.events.dispatch('waterfall', [carrier, 'test/heard', 1])
  bus.events.dispatch('emit', ['test/none'])
  expect(ours).toEqual(seen)
  expect(ours).toEqual([
    ['waterfall', 'test/heard', [1], carrier],
    ['emit', 'test/none', [], null],
  ])
})

it('a listener that is untraced is called as it is; what Cordis put around it would trace each argument', () => {
  const ctx = new Context()
  let traced = 0
  const argument = Object.defineProperty({}, Symbol.for('cordis.tracker'), { get: () => void traced++ })
  const heard: unknown[] = []
  const listener = function (this: unknown, ...args: unknown[]): void {
    heard.push([this, ...args])
  }
  ctx.on('test/heard', untraced(listener))
  const carrier = { [Context.filter]: () => true }
  const call = (): void => listenersOf(busOf(ctx), 'emit', carrier, 'test/heard', []).forEach((each) => each(argument, 2))
  call()
  expect([heard, traced]).toEqual([[[carrier, argument, 2]], 0])
  ctx.on('test/heard', () => {})
  call()
  expect(traced).toBe(1)
})

it('a listener that comes or goes after the resolving changes nothing of it', () => {
  const ctx = new Context()
  const heard: string[] = []
  const off = ctx.on('test/heard', () => heard.push('gone'))
  const listeners = listenersOf(busOf(ctx), 'emit', null, 'test/heard', [])
  off()
  ctx.on('test/heard', () => heard.push('late'))
  for (const listener of listeners) listener()
  expect(heard).toEqual(['gone'])
})

it('`cordis.filter`: who a carrier lets hear, and so who owns the listener at an index', async () => {
  const ctx = new Context()
  for (const name of ['a', 'b']) await ctx.plugin({ name, apply: (own: Context) => void own.on('test/heard', () => name) })
  const hooks = hooksOf(busOf(ctx), 'test/heard')
  const carrier = { [Context.filter]: (listener: Context) => listener.fiber.name === 'b' }
  expect(hooks.map((hook) => [hears(hook, null), hears(hook, carrier)])).toEqual([
    [true, false],
    [true, true],
  ])
  expect([ownerAt(hooks, null, 0), ownerAt(hooks, carrier, 0), ownerAt(hooks, carrier, 1)]).toEqual(['a', 'b', 'unknown'])
})

it('the states of a fiber: it is unloading from the first disposer on', async () => {
  const ctx = new Context()
  const seen: boolean[] = []
  const fiber = await ctx.plugin({
    name: 'going',
    apply: (own: Context) => {
      seen.push(isUnloading(own))
      own.effect(() => () => void seen.push(isUnloading(own)))
    },
  })
  const inner = (await fiber.ctx.plugin({ name: 'inner', apply() {} })).ctx
  expect([isUnloading(fiber.ctx), isUnloading(inner), isUnloading(ctx)]).toEqual([false, false, false])
  await fiber.dispose()
  expect([seen, isUnloading(fiber.ctx), isUnloading(inner)]).toEqual([[false, true], true, true])
})

it('`_getImpl`: a fiber leaves as soon as a service that it needs is gone, or it was disposed', async () => {
  const ctx = new Context()
  const provider = await ctx.plugin({ name: 'provider', apply: (own: Context) => void new Counter(own) })
  let user: Context | undefined
  const fiber = ctx.plugin({
    name: 'user',
    inject: ['internalsCounter'],
    apply: (own: Context) => {
      user = own
    },
  })
  await fiber
  const inner = (await user!.plugin({ name: 'inner', apply() {} })).ctx
  expect([isLeaving(ctx), isLeaving(user!), isLeaving(inner)]).toEqual([false, false, false])
  await provider.dispose()
  expect([isLeaving(user!), isLeaving(ctx)]).toEqual([true, false])
  await fiber.dispose()
  expect(isLeaving(inner)).toBe(true)
})

it('the first watcher that refuses a dispatch is the last that is told of it, and none can exchange what the listeners will get', () => {
  const ctx = new Context()
  const seen: string[] = []
  ctx.on('internal/dispatch', (_mode, _name, args) => {
    seen.push(`first ${args.length}`)
    args.push('more')
    if (args.length > 2) throw new Error('refused')
  })
  ctx.on('internal/dispatch', (_mode, _name, args) => void seen.push(`second ${args.length}`))
  const given = [1]
  listenersOf(busOf(ctx), 'emit', null, 'test/heard', given)
  expect(() => listenersOf(busOf(ctx), 'emit', null, 'test/heard', [1, 2])).toThrow('refused')
  expect([given, seen]).toEqual([[1], ['first 1', 'second 2', 'first 2']])
})
