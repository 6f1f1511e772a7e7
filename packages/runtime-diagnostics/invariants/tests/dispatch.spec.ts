import { Context, type Fiber } from '@deepseek-ai/cordis'
import { onDispatch } from '@loopguard/invariants/companion'
import { describe, expect, it } from 'vitest'
import { footprint } from './support.ts'

declare module '@deepseek-ai/cordis' {
  interface Events {
    'test/a'(...args: unknown[]): void
    'test/b'(...args: unknown[]): void
  }
}

const taps = (ctx: Context): number => ctx.events.dispatch('emit', ['internal/dispatch']).length

/** A plugin that notes what is dispatched, under its own name. */
function noting(name: string, story: string[], events: readonly ('test/a' | 'test/b')[] = ['test/a']) {
  return {
    name,
    apply: (ctx: Context) =>
      onDispatch(ctx, Object.fromEntries(events.map((event) => [event, (args) => void story.push(`${name} ${event} ${args.join()}`)]))),
  }
}

async function booted() {
  const ctx = new Context()
  const story: string[] = []
  const load = async (name: string, events?: readonly ('test/a' | 'test/b')[]): Promise<Fiber> => {
    const fiber = ctx.plugin(noting(name, story, events))
    await fiber
    return fiber.ctx.fiber
  }
  const said = (emit: () => unknown): string[] => {
    story.length = 0
    emit()
    return story
  }
  return { ctx, story, load, said }
}

describe('onDispatch', () => {
  it('hears the named events alone, once a dispatch, in the order of registration, before anybody else', async () => {
    const { ctx, story, load, said } = await booted()
    ctx.on('test/a', () => void story.push('listener'))
    await load('one')
    await load('two', ['test/a', 'test/b'])
    expect(said(() => ctx.emit('test/a', 1, 2))).toEqual(['one test/a 1,2', 'two test/a 1,2', 'listener'])
    expect(said(() => ctx.emit('test/b'))).toEqual(['two test/b '])
    expect(said(() => ctx.emit('test/c' as 'test/a'))).toEqual([])
    expect(taps(ctx)).toBe(1)
  })

  it('is given the carrier of the dispatch', async () => {
    const ctx = new Context()
    const carriers: unknown[] = []
    onDispatch(ctx, { 'test/a': (_args, carrier) => void carriers.push(carrier) })
    const carrier = { [Context.filter]: () => true }
    ctx.emit(carrier, 'test/a')
    ctx.emit('test/a')
    expect(carriers).toEqual([carrier, null])
  })

  it('refuses the event by a throw, and those behind it hear nothing', async () => {
    const { ctx, story, load } = await booted()
    ctx.on('test/a', () => void story.push('listener'))
    await load('one')
    onDispatch(ctx, {
      'test/a': () => {
        throw new Error('no')
      },
    })
    await load('two')
    expect(() => ctx.emit('test/a')).toThrow('no')
    expect(story).toEqual(['one test/a '])
  })

  it('hears what somebody refuses who came before it, also once it has moved on', async () => {
    const { ctx, load, story } = await booted()
    ctx.on('internal/dispatch', () => {
      throw new Error('refused')
    })
    const one = await load('one')
    await load('two')
    expect(() => ctx.emit('test/a')).toThrow('refused')
    await one.dispose()
    expect(() => ctx.emit('test/a')).toThrow('refused')
    expect(story).toEqual(['one test/a ', 'two test/a ', 'two test/a '])
  })

  it('goes with the fiber, and moves on before the fiber that it lives on goes: nothing is missed, nothing is heard twice', async () => {
    const { ctx, load, said, story } = await booted()
    const [one, two, three] = [await load('one'), await load('two'), await load('three')]
    for (const [fiber, left] of [
      [one, ['two', 'three']],
      [three, ['two']],
      [two, []],
    ] as const) {
      story.length = 0
      let turn = 0
      const going = fiber.dispose()
      // Whenever an event comes amid the disposal, those that stay hear it.
      for (; fiber.state !== 4; turn++) {
        ctx.emit('test/a', turn)
        await Promise.resolve()
      }
      await going
      const heard = Array.from({ length: turn }, (_, at) => `test/a ${at}`)
      for (const name of left) expect(story.filter((line) => line.startsWith(name))).toEqual(heard.map((event) => `${name} ${event}`))
      expect(turn).toBeGreaterThan(1)
      expect(said(() => ctx.emit('test/a'))).toEqual(left.map((name) => `${name} test/a `))
      expect(taps(ctx)).toBe(left.length > 0 ? 1 : 0)
    }
  })

  it('moves on without a gap: also what is sent amid the move is heard once', async () => {
    const { ctx, load, story } = await booted()
    const one = await load('one')
    await load('two')
    // Cordis tells of each listener before it is there.
    ctx.on('internal/listener', (event) => void (event === 'internal/dispatch' && ctx.emit('test/a', 'amid')))
    await one.dispose()
    expect(story.filter((line) => line.startsWith('two'))).toEqual(['two test/a amid'])
  })

  it('never moves to a fiber that goes too, or that listens no more', async () => {
    const { ctx, load, said, story } = await booted()
    let listens = true
    const group = ctx.plugin({
      name: 'group',
      apply: async (own: Context) => {
        for (const name of ['one', 'two']) await own.plugin(noting(name, story))
      },
    })
    await group
    const once = ctx.plugin({
      name: 'once',
      apply: (own: Context) => {
        if (listens) onDispatch(own, { 'test/a': () => void story.push('once') })
      },
    })
    await once
    const four = await load('four')
    listens = false
    await once.restart()
    await group.dispose()
    expect(said(() => ctx.emit('test/a'))).toEqual(['four test/a '])
    expect(taps(ctx)).toBe(1)
    await four.dispose()
    expect(taps(ctx)).toBe(0)
  })

  it('one and the same function may listen in several places, and goes from each alone', async () => {
    const { ctx, story, said } = await booted()
    const listener = () => void story.push('heard')
    const plugin = { name: 'shared', apply: (own: Context) => onDispatch(own, { 'test/a': listener, 'test/b': listener }) }
    const fibers = [await ctx.plugin(plugin), await ctx.plugin({ ...plugin })]
    expect(said(() => ctx.emit('test/a'))).toHaveLength(2)
    await fibers[0]?.dispose()
    expect(said(() => ctx.emit('test/a'))).toHaveLength(1)
    expect(said(() => ctx.emit('test/b'))).toHaveLength(1)
  })

  it('loaded again a hundred times it leaves the bus and the fibers as they were', async () => {
    const { ctx, load, said } = await booted()
    const fibers = [await load('one'), await load('two'), await load('three')]
    const before = footprint(ctx)
    for (let round = 0; round < 100; round++) for (const fiber of fibers) await fiber.restart()
    expect(footprint(ctx)).toEqual(before)
    expect(said(() => ctx.emit('test/a'))).toHaveLength(3)
    expect(taps(ctx)).toBe(1)
  })

  it('all gone at once, it is gone; loaded then, it is there again', async () => {
    const { ctx, story } = await booted()
    const before = footprint(ctx)
    const group = ctx.plugin({
      name: 'group',
      apply: async (own: Context) => {
        for (const name of ['one', 'two']) await own.plugin(noting(name, story))
      },
    })
    await group
    await group.dispose()
    expect(footprint(ctx)).toEqual(before)
    await ctx.plugin(noting('three', story))
    ctx.emit('test/a')
    expect(story).toEqual(['three test/a '])
  })

  it('each bus has its own', async () => {
    const { ctx, load, said } = await booted()
    await load('one')
    const other = await booted()
    await other.load('other')
    expect(said(() => ctx.emit('test/a'))).toEqual(['one test/a '])
    expect(other.said(() => other.ctx.emit('test/a'))).toEqual(['other test/a '])
  })
})
