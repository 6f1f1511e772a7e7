import { runInNewContext } from 'node:vm'
import { HarnessError, JsonError, snapshot } from '@loopguard/kit'
import { describe, expect, it } from 'vitest'

/** What `snapshot` throws for it. */
function refusal(value: unknown, name?: string): JsonError {
  try {
    snapshot(value, name)
  } catch (thrown) {
    return thrown as JsonError
  }
  throw new Error('it was not refused')
}

it('a copy is detached from its source, and frozen at every depth', () => {
  const source = { a: [{ b: { c: 1 } }], d: 'x' }
  const copy = snapshot(source)
  source.a[0]!.b.c = 2
  expect(copy).toEqual({ a: [{ b: { c: 1 } }], d: 'x' })
  for (const part of [copy, copy.a, copy.a[0], copy.a[0]!.b]) expect(Object.isFrozen(part)).toBe(true)
  expect([Object.isFrozen(source), Object.isFrozen(source.a)]).toEqual([false, false])
})

it('the mark of a snapshot cannot be seen', () => {
  const copy = snapshot({ a: [1] })
  expect([Reflect.ownKeys(copy), Reflect.ownKeys(copy.a)]).toEqual([['a'], ['0', 'length']])
  expect([Object.getPrototypeOf(copy), Object.getPrototypeOf(copy.a)]).toEqual([Object.prototype, Array.prototype])
  expect(copy).toStrictEqual({ a: [1] })
  expect(JSON.stringify(copy)).toBe('{"a":[1]}')
})

it('what is a snapshot already is returned as it is, whole or as a part', () => {
  const first = snapshot({ list: [{ a: 1 }] })
  expect(snapshot(first)).toBe(first)
  expect(snapshot(first.list)).toBe(first.list)
  const second = snapshot({ again: first.list, item: first.list[0], own: {} })
  expect([second.again, second.item]).toEqual([first.list, first.list[0]])
  expect(second.again).toBe(first.list)
  expect(second.item).toBe(first.list[0])
})

it('what somebody else froze is copied: it may not be frozen at every depth', () => {
  const inner = { a: 1 }
  const frozen = Object.freeze({ inner })
  const copy = snapshot(frozen)
  inner.a = 2
  expect(copy).toEqual({ inner: { a: 1 } })
})

it('shared references stay shared, and are no cycles', () => {
  const shared = { a: [1] }
  const copy = snapshot({ x: shared, y: [shared, shared.a] })
  expect(copy).toEqual({ x: { a: [1] }, y: [{ a: [1] }, [1]] })
  expect(copy.y[0]).toBe(copy.x)
  expect(copy.y[1]).toBe(copy.x.a)
})

it('a value that doubles at each level is walked once a level', () => {
  let value: unknown = ['x']
  for (let level = 0; level < 60; level++) value = [value, value]
  expect(Object.isFrozen(snapshot(value))).toBe(true)
})

it('an own __proto__ is a key like any other', () => {
  const source = JSON.parse('{"__proto__":{"a":{"__proto__":1}},"b":2}') as object
  const copy = snapshot(source)
  expect(JSON.stringify(copy)).toBe('{"__proto__":{"a":{"__proto__":1}},"b":2}')
  expect([Object.getPrototypeOf(copy), Object.keys(copy)]).toEqual([Object.prototype, ['__proto__', 'b']])
  expect(({} as { a?: unknown }).a).toBeUndefined()
})

it('keys keep their order, and odd ones their name', () => {
  const source = { z: 1, a: 2, '': 3, constructor: 4, toString: 5, 'a b': 6, hasOwnProperty: 7 }
  expect(Object.entries(snapshot(source))).toEqual(Object.entries(source))
})

it('-0 becomes 0, as JSON text has it', () => {
  expect(Object.is(snapshot(-0), 0)).toBe(true)
  const copy = snapshot({ n: -0, list: [-0, 1] })
  expect([Object.is(copy.n, 0), Object.is(copy.list[0], 0)]).toEqual([true, true])
})

it('scalars and lone surrogates are taken as they are', () => {
  for (const value of ['', '\ud83d', 'text', 0, -1.5, 5e-324, Number.MAX_VALUE, true, false, null]) expect(snapshot(value)).toBe(value)
})

it('an object without a prototype, and plain values of another realm, are plain', () => {
  const bare = Object.assign(Object.create(null) as object, { a: 1 })
  expect(Object.getPrototypeOf(snapshot(bare))).toBe(Object.prototype)
  const foreign = runInNewContext(`({ list: [1, { a: 2 }], long: Array.from({ length: 200 }, (_, n) => n) })`) as {
    list: unknown[]
    long: number[]
  }
  const copy = snapshot(foreign)
  expect(copy).toStrictEqual({ list: [1, { a: 2 }], long: Array.from({ length: 200 }, (_, n) => n) })
})

it('a hundred thousand levels are no limit', () => {
  let object: unknown = 'inside'
  let list: unknown = 'inside'
  for (let level = 0; level < 100_000; level++) [object, list] = [{ a: object }, [list]]
  let [inObject, inList] = [snapshot(object), snapshot(list)] as [unknown, unknown]
  expect([Object.isFrozen(inObject), Object.isFrozen(inList)]).toEqual([true, true])
  let depth = 0
  for (; typeof inObject === 'object'; depth++) [inObject, inList] = [(inObject as { a: unknown }).a, (inList as unknown[])[0]]
  expect([depth, inObject, inList]).toEqual([100_000, 'inside', 'inside'])
})

describe('what JSON cannot hold is refused, with its path', () => {
  class Point {
    x = 1
  }
  class List extends Array<number> {}
  const accessor = Object.defineProperty({}, 'a', { get: () => 1, enumerable: true })
  const hidden = Object.defineProperty({}, 'a', { value: 1 })
  const long = (): unknown[] => Array.from({ length: 1_000 }, () => 'x')
  const cycle: { a: { b?: unknown } } = { a: {} }
  cycle.a.b = cycle
  const ring: unknown[] = []
  ring.push([ring])
  const sparse = ['a', 'b', 'c']
  // oxlint-disable-next-line typescript/no-array-delete -- the hole is the point
  delete sparse[1]

  const cases: [string, unknown, string][] = [
    ['undefined', undefined, 'data is undefined'],
    ['undefined in an object', { a: { b: undefined } }, 'data.a.b is undefined'],
    ['undefined in a list', { list: [1, 2, undefined] }, 'data.list[2] is undefined'],
    ['a function', { f: () => 1 }, 'data.f is a function'],
    ['a symbol', [Symbol('x')], 'data[0] is a symbol'],
    ['a bigint', { n: 1n }, 'data.n is a bigint'],
    ['NaN', { n: Number.NaN }, 'data.n is NaN: a number must be finite'],
    ['Infinity', [Number.POSITIVE_INFINITY], 'data[0] is Infinity: a number must be finite'],
    ['-Infinity', Number.NEGATIVE_INFINITY, 'data is -Infinity: a number must be finite'],
    ['a Date', { at: new Date(0) }, 'data.at is a Date, not a plain object'],
    ['a Map', new Map(), 'data is a Map, not a plain object'],
    ['a Set', [new Set()], 'data[0] is a Set, not a plain object'],
    ['a RegExp', { r: /x/ }, 'data.r is a RegExp, not a plain object'],
    ['an Error', { e: new Error('x') }, 'data.e is a Error, not a plain object'],
    ['a Promise', Promise.resolve(), 'data is a Promise, not a plain object'],
    ['bytes', { b: Buffer.from('x') }, 'data.b is a Buffer, not a plain object'],
    ['a typed array', new Uint8Array(2), 'data is a Uint8Array, not a plain object'],
    ['a boxed string', Object('x'), 'data is a String, not a plain object'],
    ['an instance', { p: new Point() }, 'data.p is a Point, not a plain object'],
    ['an object that inherits', Object.create({ a: 1 }), 'data is a Object, not a plain object'],
    ['an instance without a name', new (class {})(), 'data is an exotic object, not a plain object'],
    ['a subclass of Array', { l: List.from([1]) }, 'data.l is a List, not a plain array'],
    ['arguments', (function () { return arguments })(), 'data has the symbol key Symbol(Symbol.iterator)'], // prettier-ignore
    ['a symbol key', { a: { [Symbol('s')]: 1 } }, 'data.a has the symbol key Symbol(s)'],
    ['an accessor', { x: accessor }, 'data.x.a is an accessor'],
    ['a hidden property', hidden, 'data.a is not enumerable'],
    ['a hole', { l: sparse }, 'data.l[1] is a hole: an array must have no gaps'],
    ['an endless hole', Object.assign([], { length: 2 ** 32 - 1 }), 'data[0] is a hole: an array must have no gaps'],
    ['a match', 'abc'.match(/b/), 'data is an array with the extra property index'],
    ['a list with a symbol', Object.assign([1], { [Symbol('s')]: 1 }), 'data is an array with the extra property Symbol(s)'],
    ['a list with an odd index', Object.assign([1], { '01': 1 }), 'data is an array with the extra property 01'],
    ['a long list with a property', Object.assign(long(), { x: 1 }), 'data is an array with the extra property x'],
    ['a long list with a symbol', Object.assign(long(), { [Symbol('s')]: 1 }), 'data is an array with the extra property Symbol(s)'],
    ['a long list with undefined', [...long(), undefined], 'data[1000] is undefined'],
    ['a long list with NaN', [...long(), Number.NaN], 'data[1000] is NaN: a number must be finite'],
    ['a cycle', cycle, 'data.a.b is a cycle: it holds itself'],
    ['a ring of lists', { ring }, 'data.ring[0][0] is a cycle: it holds itself'],
  ]

  it.each(cases)('%s', (_what, value, message) => {
    const error = refusal(value)
    expect(error).toBeInstanceOf(JsonError)
    expect(error).toBeInstanceOf(HarnessError)
    expect([error.name, error.code, error.message]).toEqual(['JsonError', 'NOT_JSON', message])
    expect(message.startsWith(error.path)).toBe(true)
  })

  it('keys that are no names are quoted', () => {
    expect(refusal({ 'a b': { '0': { '': undefined } } }).path).toBe('data["a b"]["0"][""]')
  })

  it('the root has the name that the caller gives it', () => {
    expect(refusal({ a: undefined }, 'arguments').path).toBe('arguments.a')
    expect(refusal(undefined, 'arguments').path).toBe('arguments')
  })

  it('the path passes over what was walked before', () => {
    const shared = { ok: [1, { b: 2 }] }
    expect(refusal({ a: [shared, { c: 1 }], d: { e: shared, f: [[shared], [Number.NaN]] } }).path).toBe('data.d.f[1][0]')
  })

  it('a path from deep down is shown by its ends', () => {
    let value: unknown = { end: undefined }
    for (let level = 0; level < 50_000; level++) value = { a: value }
    expect(refusal(value).path).toBe(`data${'.a'.repeat(10)}…(49981 more)…${'.a'.repeat(9)}.end`)
  })

  it('a refusal freezes nothing of the source', () => {
    const source = { a: [{ b: 1 }], c: undefined }
    refusal(source)
    expect([source, source.a, source.a[0]].map((part) => Object.isFrozen(part))).toEqual([false, false, false])
  })
})

it('a long list with a prototype that shows itself in another way is still a list', () => {
  const odd: unknown[] = Array.from({ length: 100 }, (_, index) => index)
  Object.setPrototypeOf(odd, Object.setPrototypeOf([], null) as object)
  expect(snapshot(odd)).toEqual(Array.from({ length: 100 }, (_, index) => index))
})
