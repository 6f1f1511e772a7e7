import { Context, Service } from '@deepseek-ai/cordis'
import { busOf, hooksOf, listen } from '@loopguard/cordis-internals'
import { expect, it } from 'vitest'

// Red when a release of Cordis keeps its listeners in another way.

declare module '@deepseek-ai/cordis' {
  interface Context {
    listenCounter: Counter
  }
  interface Events {
    'test/listen'(...args: unknown[]): void
  }
}

class Counter extends Service {
  constructor(ctx: Context) {
    super(ctx, 'listenCounter')
  }
}

/** A plugin of that name that does one thing with its context. */
const plugIn = (ctx: Context, name: string, apply: (own: Context) => unknown) =>
  ctx.plugin({ name, apply: (own: Context) => void apply(own) })

const labelsOf = (ctx: Context): string[] => ctx.fiber.getEffects().map(({ label }) => label)

it('Cordis calls the very function, with what was sent and nothing in between', async () => {
  const ctx = new Context()
  await plugIn(ctx, 'counter', (own) => new Counter(own))
  const heard: unknown[] = []
  const listener = function (this: unknown, ...args: unknown[]): void {
    heard.push(this, ...args)
  }
  await plugIn(ctx, 'untraced', (own) => listen(own, 'test/listen', listener))
  const traced: unknown[] = []
  await plugIn(ctx, 'traced', (own) => own.on('test/listen', (...args) => void traced.push(...args)))
  const carrier = { [Context.filter]: () => true }
  const service = ctx.listenCounter
  ctx.emit(carrier as never, 'test/listen', 1, service)
  expect(heard).toEqual([carrier, 1, service])
  expect(heard[2] === service, 'as it is').toBe(true)
  expect(traced[1] === service, 'as Cordis gives it to others').toBe(false)
})

it('is registered as `ctx.on` would do it: whose it is, in which place, and that it goes with its fiber', async () => {
  const ctx = new Context()
  const bus = busOf(ctx)
  const records = () =>
    hooksOf(bus, 'test/listen').map(({ ctx: owner, ...hook }) => ({ ...hook, owner: owner.fiber.name, callback: typeof hook.callback }))
  const story: (string | undefined)[] = []
  const told: unknown[] = []
  ctx.on('internal/listener', (...args: unknown[]) => void told.push(args))
  const seen = []
  for (const register of [listen, (own: Context, ...rest: [event: 'test/listen', () => void, object?]) => own.on(...rest)]) {
    const fibers = [
      await plugIn(ctx, 'a', (own) => register(own, 'test/listen', () => story.push('a'))),
      await plugIn(ctx, 'b', (own) => register(own, 'test/listen', () => story.push('b'), { prepend: true })),
      await plugIn(ctx, 'c', (own) => register(own, 'test/listen', () => story.push('c'), { global: true })),
    ]
    ctx.emit({ [Context.filter]: (own: Context) => own.fiber.name === 'b' } as never, 'test/listen')
    const whole = [records(), labelsOf(fibers[0]!.ctx), story.splice(0), told.splice(0).map((args) => (args as unknown[])[0])]
    await fibers[1]!.dispose()
    const left = records()
    for (const fiber of fibers) await fiber.dispose()
    seen.push([whole, left, records()])
  }
  expect(seen[0]).toEqual(seen[1])
  expect(seen[0]?.[0]).toEqual([
    [
      { owner: 'b', prepend: true, callback: 'function' },
      { owner: 'a', callback: 'function' },
      { owner: 'c', global: true, callback: 'function' },
    ],
    ['ctx.on("test/listen")'],
    ['b', 'c'],
    ['test/listen', 'test/listen', 'test/listen'],
  ])
})

it('one function may listen in several places; each goes alone, and once', async () => {
  const ctx = new Context()
  const listener = (): void => {}
  const offs: (() => void)[] = []
  const register = (own: Context): unknown => offs.push(listen(own, 'test/listen', listener))
  for (const name of ['a', 'b']) await plugIn(ctx, name, register)
  ctx.on('test/listen', () => {})
  const owners = (): string[] => hooksOf(busOf(ctx), 'test/listen').map(({ ctx: owner }) => owner.fiber.name)
  expect(owners()).toEqual(['a', 'b', 'root'])
  offs[1]!()
  offs[1]!()
  expect(owners()).toEqual(['a', 'root'])
  offs[0]!()
  expect(owners()).toEqual(['root'])
})

it('goes where another listener takes it in, and a fiber that has gone takes none', async () => {
  const ctx = new Context()
  const taken: unknown[] = []
  ctx.on('internal/listener', ((event: string, listener: unknown) => {
    if (event !== 'test/listen') return undefined
    taken.push(listener)
    return () => taken.pop()
  }) as never)
  const listener = (): void => {}
  const off = listen(ctx, 'test/listen', listener)
  expect([taken, hooksOf(busOf(ctx), 'test/listen')]).toEqual([[listener], []])
  off()
  expect(taken).toEqual([])

  const bare = new Context()
  const gone = await plugIn(bare, 'gone', () => {})
  await gone.dispose()
  expect(() => listen(gone.ctx, 'test/listen', listener)).toThrow('cannot create effect on inactive context')
  expect(hooksOf(busOf(bare), 'test/listen')).toEqual([])
})
