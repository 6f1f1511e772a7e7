import { InvariantError, isInvariantError } from '@loopguard/invariants'
import { describe, expect, it } from 'vitest'
import { boot, failureOf, settle } from './support.ts'

const messages = (errors: readonly InvariantError[]): string[] => errors.map(({ message }) => message)

describe('fail', () => {
  it('throws an error that names the package', async () => {
    const { ctx } = await boot()
    const fail = await failureOf(ctx, '@loopguard/tools')
    const expected = {
      name: 'InvariantError',
      code: 'INVARIANT',
      packageName: '@loopguard/tools',
      message: 'invariant violated by "@loopguard/tools": two results for call "c1"',
    }
    expect(() => fail('two results for call "c1"')).toThrow(expect.objectContaining(expected))
  })

  it('has recorded, logged and emitted the very error before it throws', async () => {
    const { ctx, registry, errors } = await boot()
    const fail = await failureOf(ctx, 'pkg')
    const seen: unknown[] = []
    ctx.on('invariants/violation', (error) => void seen.push(['emitted', error, registry.violations.at(-1), errors.at(-1)?.args[0]]))
    let thrown: unknown
    try {
      fail('broken')
    } catch (error) {
      thrown = error
    }
    expect(thrown).toBeInstanceOf(InvariantError)
    expect(seen).toEqual([['emitted', thrown, thrown, thrown]])
    expect(seen[0]).toSatisfy((row: unknown[]) => row.slice(1).every((each) => each === thrown))
    expect(errors.map(({ name, type }) => ({ name, type }))).toEqual([{ name: 'invariants', type: 'error' }])
  })

  it('is not lost inside a listener whose failures are contained', async () => {
    const { ctx, registry, errors } = await boot()
    await registry.register('pkg', (child, fail) => {
      child.on('test/ping', (value) => {
        if (value < 0) fail(`${value} is negative`)
      })
    })
    try {
      ctx.emit('test/ping', -1)
    } catch {
      // As a host does that contains its listeners.
    }
    ctx.emit('test/ping', 1)
    expect(messages(registry.violations)).toEqual(['invariant violated by "pkg": -1 is negative'])
    expect(errors).toHaveLength(1)
  })

  it('fails the set-up when the installer itself calls it', async () => {
    const { registry } = await boot()
    const registration = registry.register('pkg', (_child, fail) => fail('wrong from the start'))
    await expect(registration()).rejects.toMatchObject({ code: 'INVARIANT', packageName: 'pkg' })
    expect(registry.violations).toHaveLength(1)
    expect(registry.registrations()).toEqual([])
  })

  it('keeps the violation and the name of each package apart', async () => {
    const { ctx, registry } = await boot()
    const one = await failureOf(ctx, 'one')
    const two = await failureOf(ctx, 'two')
    expect(() => two('b')).toThrow(InvariantError)
    expect(() => one('a')).toThrow(InvariantError)
    expect(registry.violations.map(({ packageName }) => packageName)).toEqual(['two', 'one'])
  })
})

describe('the violations', () => {
  it('are the latest hundred, oldest first, in one live list', async () => {
    const { ctx, registry } = await boot()
    const { violations } = registry
    const fail = await failureOf(ctx, 'pkg')
    for (let nth = 0; nth < 100; nth++) expect(() => fail(`${nth}`)).toThrow(InvariantError)
    expect(messages(violations)).toEqual(Array.from({ length: 100 }, (_, nth) => `invariant violated by "pkg": ${nth}`))
    for (let nth = 100; nth < 105; nth++) expect(() => fail(`${nth}`)).toThrow(InvariantError)
    expect(violations).toHaveLength(100)
    expect(messages(violations).map((message) => message.replace(/\D/g, ''))).toEqual(Array.from({ length: 100 }, (_, nth) => `${nth + 5}`))
    expect(registry.violations).toBe(violations)
  })

  it('outlive the registration', async () => {
    const { registry } = await boot()
    const dispose = await registry.register('pkg', (_child, fail) => {
      expect(() => fail('broken')).toThrow(InvariantError)
    })
    await dispose()
    expect(messages(registry.violations)).toEqual(['invariant violated by "pkg": broken'])
  })
})

describe('the event', () => {
  it('reaches every listener, whatever others do, and logs what they do', async () => {
    const { ctx, errors } = await boot()
    const fail = await failureOf(ctx, 'pkg')
    const heard: string[] = []
    ctx.on('invariants/violation', () => {
      throw new Error('first listener')
    })
    ctx.on('invariants/violation', () => Promise.reject(new Error('second listener')) as unknown as void)
    ctx.on('invariants/violation', ({ packageName }) => void heard.push(packageName))
    expect(() => fail('broken')).toThrow('invariant violated by "pkg": broken')
    await settle()
    expect(heard).toEqual(['pkg'])
    expect(errors.map(({ args }) => String(args[0]))).toEqual([
      'InvariantError: invariant violated by "pkg": broken',
      'Error: first listener',
      'Error: a listener of "invariants/violation" failed',
      'Error: second listener',
      'Error: a listener of "invariants/violation" failed',
    ])
  })

  it('that somebody vetoes is logged, and the violation stands', async () => {
    const { ctx, registry, errors } = await boot()
    const fail = await failureOf(ctx, 'pkg')
    let heard = 0
    ctx.on('invariants/violation', () => void heard++)
    ctx.on('internal/dispatch', (_mode, name) => {
      if (name === 'invariants/violation') throw new Error('not this one')
    })
    expect(() => fail('broken')).toThrow('invariant violated by "pkg": broken')
    expect(heard).toBe(0)
    expect(registry.violations).toHaveLength(1)
    expect(errors.map(({ args }) => String(args[0]))).toContain('Error: not this one')
  })

  it('may make another check fail, which is published too', async () => {
    const { ctx, registry } = await boot()
    const one = await failureOf(ctx, 'one')
    const two = await failureOf(ctx, 'two')
    const heard: string[] = []
    ctx.on('invariants/violation', ({ packageName }) => {
      heard.push(packageName)
      if (packageName === 'one') two('as well')
    })
    expect(() => one('broken')).toThrow('broken')
    expect(heard).toEqual(['one', 'two'])
    expect(() => two('alone')).toThrow('alone')
    expect(() => one('again')).toThrow('again')
    expect(heard).toEqual(['one', 'two', 'two', 'one', 'two'])
    expect(registry.violations).toHaveLength(5)
  })

  it('does not run in circles when a check trips over it', async () => {
    const { ctx, registry } = await boot()
    let heard = 0
    ctx.on('invariants/violation', () => void heard++)
    await registry.register('pkg', (child, fail) => {
      child.on('internal/dispatch', (_mode, name) => {
        if (name === 'invariants/violation' || name === 'test/ping') fail(`${name} must not be`)
      })
    })
    expect(() => ctx.emit('test/ping', 1)).toThrow('test/ping must not be')
    expect(messages(registry.violations)).toEqual([
      'invariant violated by "pkg": test/ping must not be',
      'invariant violated by "pkg": invariants/violation must not be',
    ])
    expect(heard).toBe(0)
    expect(() => ctx.emit('test/ping', 1)).toThrow('test/ping must not be')
    expect(registry.violations).toHaveLength(4)
  })
})

it('a log exporter that throws does not take the place of the violation', async () => {
  const { ctx, registry } = await boot()
  const fail = await failureOf(ctx, 'pkg')
  const heard: string[] = []
  ctx.on('invariants/violation', ({ packageName }) => void heard.push(packageName))
  ctx.logger.exporter({
    export: () => {
      throw new Error('disk full')
    },
  })
  expect(() => fail('broken')).toThrow('invariant violated by "pkg": broken')
  expect(heard).toEqual(['pkg'])
  expect(registry.violations).toHaveLength(1)
})

describe('isInvariantError', () => {
  it('knows its own, also those of another loaded copy, and nothing else', () => {
    class OtherCopy extends Error {}
    Object.defineProperty(OtherCopy.prototype, Symbol.for('@loopguard/invariants/error'), { value: true })
    expect([new InvariantError('pkg', 'x'), new OtherCopy()].map(isInvariantError)).toEqual([true, true])
    expect([new Error('x'), { code: 'INVARIANT' }, undefined, null, 'x'].map(isInvariantError)).toEqual([false, false, false, false, false])
  })

  it('knows an error whose message and stack can be printed as usual', () => {
    const error = new InvariantError('pkg', 'broken')
    expect(String(error)).toBe('InvariantError: invariant violated by "pkg": broken')
    expect(error.stack).toMatch(/^InvariantError: invariant violated by "pkg": broken\n/)
    expect(Object.keys(error)).toEqual(['code', 'packageName'])
  })
})
