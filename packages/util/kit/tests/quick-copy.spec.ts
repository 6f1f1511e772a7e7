import { isDeepStrictEqual } from 'node:util'
import { createContext, runInContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DeepCopy } from '../src/deep-copy.ts'
// Not from the package: what is a snapshot is known to the same copy of the code alone, and a build is another one.
import { snapshot } from '../src/json.ts'
import { quickCopy } from '../src/quick-copy.ts'
import { isSealed } from '../src/sealed.ts'

/** What the thorough copy makes of a value; `undefined` when it refuses. */
function deepCopy(value: object): object | undefined {
  try {
    return new DeepCopy((why) => {
      throw new Error(why)
    }).of(value)
  } catch {
    return undefined
  }
}

const nest = (depth: number): object => {
  let value: object = []
  for (let level = 1; level < depth; level++) value = level % 2 === 0 ? [value] : { a: value }
  return value
}

class Point {
  x = 1
}
class List extends Array<unknown> {}
let reads = 0
const accessor = {
  get a(): number {
    return ++reads
  },
}
const hidden = Object.defineProperty({}, 'a', { value: 1, enumerable: false })
const named = Object.assign([1], { extra: 1 })
const throwing = new Proxy(
  {},
  {
    ownKeys() {
      throw new Error('no')
    },
  },
)

/** Parts that are no JSON, and some that only look so. */
const odd = fc.constantFrom<() => unknown>(
  () => undefined,
  () => Number.NaN,
  () => -0,
  () => 1n,
  () => Symbol('s'),
  () => () => {},
  () => new Date(0),
  () => new Point(),
  () => List.from([1]),
  () => accessor,
  () => hidden,
  () => named,
  () => Object.assign(Array.from({ length: 70 }, () => 1), { extra: 1 }), // prettier-ignore
  () => Object.assign([1], { [Symbol('s')]: 1 }),
  () => ({ [Symbol('s')]: 1 }),
  () => [1, , 2], // oxlint-disable-line no-sparse-arrays
  () => Object.create(null),
  () => JSON.parse('{"__proto__":{"a":1}}'),
  () => snapshot({ a: [1] }),
  () => runInContext('({ a: [1] })', createContext()),
  () => new Proxy({ a: [1] }, {}),
)
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 6, arbitrary: fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null)) },
    { weight: 1, arbitrary: odd.map((make) => make()) },
    { weight: 5, arbitrary: fc.array(tie('value'), { maxLength: 5 }) },
    { weight: 5, arbitrary: fc.dictionary(fc.string(), tie('value'), { maxKeys: 5, noNullPrototype: true }) },
  ),
}))

it('what it takes, it copies as the thorough copy does, which refuses none of that', () => {
  let taken = 0
  fc.assert(
    fc.property(fc.array(value, { maxLength: 4 }), (root) => {
      const quick = quickCopy(root)
      if (quick === undefined) return
      taken++
      expect(isDeepStrictEqual(quick, deepCopy(root))).toBe(true)
      for (const part of partsOf(quick)) expect([isSealed(part), Object.isFrozen(part)]).toEqual([true, true])
    }),
    { numRuns: 500 },
  )
  expect(taken).toBeGreaterThan(50)
}, 60_000)

it('a tree is taken: however wide, a hundred levels deep, with parts that are snapshots, and with any key', () => {
  const part = snapshot({ a: [1] })
  const trees: object[] = [
    nest(100),
    Array.from({ length: 1_000 }, () => ({ a: [-0] })),
    [part, part],
    JSON.parse('{"__proto__":{"a":1},"constructor":[]}') as object,
    Object.create(null) as object,
    runInContext('({ a: [1] })', createContext()) as object,
  ]
  for (const tree of trees) {
    const quick = quickCopy(tree)
    expect(quick).toBeDefined()
    expect(isDeepStrictEqual(quick, deepCopy(tree))).toBe(true)
  }
  expect((quickCopy([part]) as unknown[])[0]).toBe(part)
  expect(Object.is((quickCopy([-0]) as unknown[])[0], 0)).toBe(true)
})

describe('left to the thorough copy is', () => {
  const circle: unknown[] = []
  circle.push({ circle })
  const shared = {}
  const cases: [string, object][] = [
    ['what is deeper', nest(101)],
    ['what stands in two places', [shared, shared]],
    ['what holds itself', circle],
    ['an instance', [new Point()]],
    ['a list of another class', [List.from([1])]],
    ['an accessor', [accessor]],
    ['a hidden property', [hidden]],
    ['a list with a name in it', [named]],
    ['a symbol key', [{ [Symbol('s')]: 1 }]],
    ['a hole', [[1, , 2]]], // oxlint-disable-line no-sparse-arrays
    ['an endless hole', [Array.from({ length: 2 }, () => 1), Object.assign([1], { length: 2 ** 32 - 1 })]],
    ['what is no JSON', [{ a: 1n }]],
    ['what throws when it is read', [throwing]],
  ]
  it.each(cases)('%s', (_what, root) => {
    expect(quickCopy(root)).toBeUndefined()
    expect(reads).toBe(0)
  })
})

/** Root first. */
function partsOf(root: object): object[] {
  const parts = [root]
  for (const part of parts) parts.push(...Object.values(part).filter((member) => typeof member === 'object' && member !== null))
  return parts
}
