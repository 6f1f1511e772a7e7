import { Context } from '@deepseek-ai/cordis'
import type { Listener } from '@loopguard/cordis-internals'
import { busOf } from '@loopguard/llm'
import { gate } from '@loopguard/testkit'
import { carrierOf, waterfall } from '@loopguard/tools'
import { onion } from '../src/onion.ts'
import { describe, expect, it } from 'vitest'
import { bogus, Host, said } from './support.ts'

type Next = () => Promise<unknown>
type Wrapper = (next: Next) => unknown

/** Runs `wrappers` around a centre; they get their `next` only. */
function wrap(wrappers: readonly Wrapper[], center: () => unknown = () => 'center'): Promise<unknown> {
  const listeners = wrappers.map(
    (wrapper): Listener =>
      (next) =>
        wrapper(next as Next),
  )
  return onion<unknown>({ event: 'test/event', listeners, args: [], center })
}

describe('next()', () => {
  it('runs the whole rest of the chain anew each time, centre included', async () => {
    const trace: string[] = []
    const note =
      (name: string): Wrapper =>
      async (next) => {
        trace.push(`${name}(`)
        const value = await next()
        trace.push(`)${name}`)
        return value
      }
    const retry: Wrapper = async (next) => {
      await next()
      await next()
      return next()
    }
    await wrap([note('a'), retry, note('b'), note('c')], () => trace.push('*'))
    const attempt = ['b(', 'c(', '*', ')c', ')b']
    expect(trace).toEqual(['a(', ...attempt, ...attempt, ...attempt, ')a'])
  })

  it('retried inside of a retry multiplies', async () => {
    let runs = 0
    const twice: Wrapper = async (next) => (await next(), next())
    await wrap([twice, twice, twice], () => ++runs)
    expect(runs).toBe(8)
  })

  it('not called short-circuits', async () => {
    let runs = 0
    expect(await wrap([(next) => next(), () => 'mine', (next) => next()], () => ++runs)).toBe('mine')
    expect(runs).toBe(0)
  })

  it('gives what is inside: a value, or a rejection that can be caught and tried again', async () => {
    let runs = 0
    const retry: Wrapper = async (next) => {
      try {
        return await next()
      } catch {
        return next()
      }
    }
    const flaky = (): string => {
      if (++runs === 1) throw new Error('first')
      return 'second'
    }
    expect(await wrap([retry, (next) => next()], flaky)).toBe('second')
  })

  it('takes no arguments: what is passed to it changes nothing', async () => {
    const seen: unknown[][] = []
    const listeners: Listener[] = [
      (_arg, next) => (next as (...args: unknown[]) => unknown)('other'),
      (...args) => (seen.push(args.slice(0, -1)), 'ok'),
    ]
    await onion<unknown>({ event: 'test/event', listeners, args: ['own'], center: () => 'center' })
    expect(seen).toEqual([['own']])
  })
})

describe('a next() out of turn', () => {
  it('while the last one runs is refused, and the one that runs goes on', async () => {
    const inner = gate()
    let refusal: unknown
    let runs = 0
    const wrapper: Wrapper = async (next) => {
      const first = next()
      refusal = await next().catch((thrown: unknown) => thrown)
      inner.open()
      return first
    }
    const value = await wrap([wrapper], async () => (runs++, await inner.opened, 'inner'))
    expect(refusal).toMatchObject({
      code: 'NEXT_WHILE_RUNNING',
      message: 'test/event: a listener called next() while its last next() was still running',
    })
    expect([value, runs]).toEqual(['inner', 1])
  })

  it('is refused to those further in while they start, too', async () => {
    let again: Next | undefined
    let refusal: unknown
    let runs = 0
    const outer: Wrapper = (next) => ((again = next), next())
    const inner: Wrapper = (next) => {
      void again?.().catch((error: unknown) => (refusal = error))
      return next()
    }
    expect(await wrap([outer, inner], () => ++runs)).toBe(1)
    expect(refusal).toMatchObject({ code: 'NEXT_WHILE_RUNNING' })
  })

  it('is possible again once the last one has settled, whether it was awaited or not', async () => {
    let runs = 0
    const wrapper: Wrapper = async (next) => {
      void next()
      for (let ticks = 0; ticks < 10; ticks++) await Promise.resolve()
      return next()
    }
    await wrap([wrapper], () => ++runs)
    expect(runs).toBe(2)
  })

  it('after the listener has returned is refused, and need not be handled', async () => {
    let late!: Next
    let runs = 0
    await wrap([(next) => ((late = next), 'early')], () => ++runs)
    void late()
    await expect(late()).rejects.toMatchObject({
      code: 'NEXT_AFTER_RETURN',
      message: 'test/event: a listener called next() after the listener had returned',
    })
    expect(runs).toBe(0)
  })

  it('after the listener has thrown is refused, too', async () => {
    let late!: Next
    const wrapper: Wrapper = (next) => {
      late = next
      throw new Error('thrown')
    }
    await expect(wrap([wrapper])).rejects.toThrow('thrown')
    await expect(late()).rejects.toMatchObject({ code: 'NEXT_AFTER_RETURN' })
  })

  it('two at once leave the first to finish before the failure counts', async () => {
    const inner = gate()
    let done = false
    const both = wrap([(next) => Promise.all([next(), next()])], async () => (await inner.opened, (done = true)))
    inner.open()
    await expect(both).rejects.toMatchObject({ code: 'NEXT_WHILE_RUNNING' })
    expect(done).toBe(true)
  })
})

describe('what a listener started', () => {
  it.each<[string, (next: Next) => unknown, unknown]>([
    ['is waited for when it returned early', (next) => (void next(), 'early'), 'early'],
    [
      'is waited for when it threw',
      (next) => {
        void next()
        throw new Error('thrown')
      },
      new Error('thrown'),
    ],
    ['is waited for when it answered nothing', (next) => void next(), undefined],
  ])('%s', async (_name, wrapper, outcome) => {
    const inner = gate()
    let settled = false
    let finished = false
    const running = wrap([(next) => next(), wrapper, (next) => next()], async () => (await inner.opened, (finished = true), 'inner'))
    void running.then(
      () => (settled = true),
      () => (settled = true),
    )
    for (let ticks = 0; ticks < 50; ticks++) await Promise.resolve()
    expect(settled).toBe(false)
    inner.open()
    expect(await running.catch((thrown: unknown) => thrown)).toEqual(outcome)
    expect(finished).toBe(true)
  })

  it('and failed, with nobody looking, is no unhandled rejection', async () => {
    expect(await wrap([(next) => (void next(), 'early')], () => Promise.reject(new Error('unseen')))).toBe('early')
  })
})

describe('an answer', () => {
  const checked = (wrappers: readonly Wrapper[], ownerOf?: (index: number) => string): Promise<unknown> =>
    onion<unknown>({
      event: 'test/event',
      listeners: wrappers.map(
        (wrapper): Listener =>
          (next) =>
            wrapper(next as Next),
      ),
      args: [],
      center: () => 'center',
      parse: (value) => {
        if (typeof value !== 'string') throw new TypeError(`returned ${String(value)}, not text`)
        return value
      },
      ...(ownerOf !== undefined && { ownerOf }),
    })

  it('that is missing is named, with the likeliest cause', async () => {
    await expect(checked([async (next) => void (await next())])).rejects.toMatchObject({
      code: 'BAD_ANSWER',
      message: 'test/event: a listener returned undefined, not text (did it forget `return next()`?)',
    })
  })

  it('that is another kind of wrong is named without that cause', async () => {
    await expect(checked([() => 5])).rejects.toThrow(/^test\/event: a listener returned 5, not text$/)
  })

  it('is checked at the place of the culprit, and named by its plugin', async () => {
    const owners = ['outer', 'culprit', 'inner']
    const seen: unknown[] = []
    const outer: Wrapper = async (next) => next().catch((thrown: Error) => (seen.push(thrown.message), 'repaired'))
    expect(await checked([outer, () => null, (next) => next()], (index) => owners[index] as string)).toBe('repaired')
    expect(seen).toEqual(['test/event: a listener of plugin "culprit" returned null, not text'])
  })
})

describe('what `parse` makes of an answer', () => {
  const length = (value: unknown): number => {
    if (typeof value !== 'string') throw new TypeError(`returned ${String(value)}, not text`)
    return value.length
  }

  it('is what the onion resolves to, while the listeners further out see the answer itself', async () => {
    const seen: unknown[] = []
    const listeners: Listener[] = [
      async (next) => {
        seen.push(await (next as Next)())
        return 'outermost'
      },
      () => 'inner',
    ]
    expect(await onion<string, number>({ event: 'test/event', listeners, args: [], center: () => 'center', parse: length })).toBe(9)
    expect(seen).toEqual(['inner'])
  })

  it('is made of the center where there is no listener', async () => {
    expect(await onion<string, number>({ event: 'test/event', listeners: [], args: [], center: () => 'center', parse: length })).toBe(6)
  })
})

describe('any kind of listener', () => {
  it('may throw synchronously, return a plain value or a thenable', async () => {
    await expect(
      wrap([
        bogus(() => {
          throw new Error('now')
        }),
      ]),
    ).rejects.toThrow('now')
    expect(await wrap([() => 'plain'])).toBe('plain')
    // oxlint-disable-next-line unicorn/no-thenable
    expect(await wrap([() => ({ then: (resolve: (value: string) => void) => resolve('thenable') })])).toBe('thenable')
  })

  it('without any, the centre is called once, and its synchronous throw is a rejection', async () => {
    let runs = 0
    expect(await wrap([], () => ++runs)).toBe(1)
    await expect(
      wrap(
        [],
        bogus(() => {
          throw new Error('centre')
        }),
      ),
    ).rejects.toThrow('centre')
  })

  it('may be one of twenty thousand', async () => {
    let depth = 0
    const listeners = Array.from({ length: 20_000 }, (): Wrapper => (next) => (depth++, next()))
    expect(await wrap(listeners)).toBe('center')
    expect(depth).toBe(20_000)
  }, 60_000)
})

describe('on the bus of Cordis', () => {
  const event = 'tools/pre-execute'

  function run(ctx: Context): Promise<unknown> {
    return waterfall<unknown>(busOf(ctx), carrierOf(undefined), { event, args: [{}], center: () => 'center' })
  }

  it('registered earlier is outer, and `prepend` is outermost', async () => {
    const ctx = new Context()
    const order: string[] = []
    const listen = (name: string, prepend = false): void => void ctx.on(event, (_exec, next) => (order.push(name), next()), { prepend })
    listen('first')
    listen('second')
    listen('third', true)
    await run(ctx)
    expect(order).toEqual(['third', 'first', 'second'])
  })

  it('one that is added while it runs is no part of it; one that is removed still is', async () => {
    const ctx = new Context()
    const order: string[] = []
    ctx.on(event, async (_exec, next) => {
      order.push('outer')
      remove()
      ctx.on(event, (_again, onwards) => (order.push('added'), onwards()))
      await next()
      return next()
    })
    const remove = ctx.on(event, (_exec, next) => (order.push('removed'), next()))
    await run(ctx)
    expect(order).toEqual(['outer', 'removed', 'removed'])
    order.length = 0
    await run(ctx)
    expect(order.slice(0, 2)).toEqual(['outer', 'added'])
  })

  it('a veto through internal/dispatch rejects before any listener runs', async () => {
    const ctx = new Context()
    let heard = false
    ctx.on(event, (_exec, next) => ((heard = true), next()))
    ctx.on('internal/dispatch', () => {
      throw new Error('vetoed')
    })
    await expect(run(ctx)).rejects.toThrow('vetoed')
    expect(heard).toBe(false)
  })

  it('names the plugin whose listener is the culprit, and not one that does not hear the event', async () => {
    const host = await Host.start()
    const other = await host.agent('other')
    other.ctx.on(event, (_exec, next) => next())
    host.ctx.on(event, (_exec, next) => next())
    await host.ctx.plugin({
      name: 'forgetful',
      apply: (ctx: Context) =>
        void ctx.on(
          event,
          bogus(() => undefined),
        ),
    })
    expect(said(await host.call())).toContain('a listener of plugin "forgetful" returned undefined')
  })
})
