import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { callIdentity, keyOf } from '../src/identity.ts'
import { deepFreeze, equalAsJson, json, put, reordered } from './json.ts'

// A busy machine takes its time.
vi.setConfig({ testTimeout: 60_000 })

const parsed = (text: string): string => keyOf('tool', JSON.parse(text))

describe('properties', () => {
  it('two calls have one identity if, and only if, names and arguments are equal as JSON', () => {
    fc.assert(
      fc.property(json, json, (a, b) => {
        expect(keyOf('tool', a) === keyOf('tool', b)).toBe(equalAsJson(a, b))
      }),
      { numRuns: 1_000 },
    )
  })

  it('a change of one value anywhere changes the identity', () => {
    fc.assert(
      fc.property(json, json, fc.nat(), (whole, part, at) => {
        const changed = replacedAt(whole, at, part)
        expect(keyOf('tool', changed) === keyOf('tool', whole)).toBe(equalAsJson(changed, whole))
      }),
      { numRuns: 1_000 },
    )
  })

  it('the order of keys does not matter, at any depth', () => {
    fc.assert(
      fc.property(json, fc.infiniteStream(fc.nat()), (value, stream) => {
        const other = reordered(value, (count) => (stream.next().value ?? 0) % count)
        expect(keyOf('tool', other)).toBe(keyOf('tool', value))
      }),
      { numRuns: 500 },
    )
  })

  it('which parts are one object does not matter', () => {
    fc.assert(
      fc.property(json, (part) => {
        const copy: unknown = JSON.parse(JSON.stringify(part))
        expect(keyOf('tool', [part, { a: part, b: [part] }])).toBe(
          keyOf('tool', [copy, { b: [part], a: JSON.parse(JSON.stringify(part)) as unknown }]),
        )
      }),
    )
  })

  it('the arguments are neither changed nor need to be changeable', () => {
    fc.assert(
      fc.property(json, (value) => {
        const before = JSON.stringify(value)
        const identity = keyOf('tool', value)
        expect(JSON.stringify(value)).toBe(before)
        expect(keyOf('tool', deepFreeze(value))).toBe(identity)
      }),
    )
  })

  it('nothing that a host may hand over makes it throw but what throws when it is read', () => {
    fc.assert(
      fc.property(
        fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true, withSparseArray: true }),
        (value) => {
          expect(keyOf('tool', value)).toMatch(/^(\[.{0,255}|#[\da-f]{64})$/)
          expect(callIdentity('tool', value)).toMatch(/^[\da-f]{64}$/)
        },
      ),
    )
  })
})

describe('what JSON can hold', () => {
  it.each([
    ['an own __proto__', ['{"__proto__":{"a":1}}', '{"__proto__":{"a":2}}', '{}', '{"__proto__":null}', '{"a":1}']],
    ['keys of Object.prototype', ['{}', '{"constructor":null}', '{"toString":null}', '{"hasOwnProperty":null}', '{"valueOf":null}']],
    ['kinds of emptiness', ['null', 'false', '0', '""', '[]', '{}', '[[]]', '[{}]', '{"":{}}', '{"":[]}', '{"":null}', '[null]']],
    ['numbers and their text', ['1', '"1"', '[1]', '["1"]', '1.5', '"1.5"', '-1', '10', '1e100', '-1e100']],
    ['words and their text', ['true', '"true"', 'null', '"null"', 'false', '"false"']],
    ['nesting', ['[1,2,3]', '[[1,2],3]', '[1,[2,3]]', '[[1],2,3]', '[[1,2,3]]', '[1,2,[3]]']],
    ['where text ends', ['["ab","c"]', '["a","bc"]', '["abc",""]', '["","abc"]', '["abc"]', '"abc"']],
    ['where keys end', ['{"ab":"c"}', '{"a":"bc"}', '{"abc":""}', '{"":"abc"}', '{"a":{"bc":0}}', '{"a":"b","c":0}']],
    ['keys with NUL', ['{"a\\u0000b":0}', '{"a":0,"b":0}', '{"a\\u0000b":0,"c":0}', '{"a":0,"b\\u0000c":0}']],
    ['lone surrogates', ['"\\ud800"', '"\\ud801"', '"\\udc00"', '"\\ufffd"', '"\\ud800\\udc00"', '"\\udc00\\ud800"', '"?"']],
    ['lone surrogates as keys', ['{"\\ud800":0}', '{"\\ud801":0}', '{"\\ufffd":0}']],
    ['bounds of integers', ['2147483647', '2147483648', '-2147483648', '-2147483649', '4294967295', '4294967296', '9007199254740991']],
    ['small differences', ['0.1', '0.2', '0.30000000000000004', '0.3', '5e-324', '1.7976931348623157e308', '1.7976931348623155e308']],
    ['keys like indices', ['{"0":0}', '[0]', '{"1":0}', '{"00":0}', '{"10":0,"9":1}', '{"10":1,"9":0}']],
    ['wide text that differs late', [`"${'é'.repeat(60)}"`, `"${'é'.repeat(59)}e"`, `"${'\u0101'.repeat(60)}"`, `"${'i'.repeat(60)}"`]],
  ])('keeps apart %s', (_title, texts) => {
    const identities = texts.map(parsed)
    expect(new Set(identities).size).toBe(texts.length)
    expect(texts.map(parsed)).toEqual(identities)
  })

  it.each([
    ['key order at every depth', '{"x":1,"y":{"b":2,"a":1}}', '{"y":{"a":1,"b":2},"x":1}'],
    ['key order in a list', '[{"a":1,"b":2},{"b":1,"a":2}]', '[{"b":2,"a":1},{"a":2,"b":1}]'],
    ['white space', '{"a": [1, 2]}', '{ "a":[1,2] }'],
    ['spellings of a number', '[1,10,0.5,0]', '[1.0,1e1,5e-1,-0]'],
    ['escapes', '"\\u0061\\/"', '"a/"'],
    ['a key given twice', '{"a":1,"a":2}', '{"a":2}'],
    ['more than a few keys', wideObject(40, 0), wideObject(40, 17)],
    ['many keys', wideObject(3_000, 0), wideObject(3_000, 1_234)],
  ])('does not care for %s', (_title, one, other) => {
    expect(parsed(one)).toBe(parsed(other))
  })

  it('the name is part of it, and never mixes with the arguments', () => {
    const identities = [keyOf('a', 'b'), keyOf('ab', ''), keyOf('', 'ab'), keyOf('a', ['b']), keyOf('b', 'a')]
    expect(new Set(identities).size).toBe(identities.length)
    expect(keyOf('\ud800', 1)).not.toBe(keyOf('\ud801', 1))
  })

  it('text that was no JSON is compared as the text that it is', () => {
    const texts = ['{"a":1', '{"a":1 ', '{"n":1e999,"a":1}', '{"n":1e999,"a":2}', '{"n":1e999,"a":3}', '', '{}', '{"a":1}']
    const identities = texts.map((text) => keyOf('tool', text))
    expect(new Set([...identities, keyOf('tool', {}), keyOf('tool', { a: 1 })]).size).toBe(texts.length + 2)
    expect(texts.map((text) => keyOf('tool', text))).toEqual(identities)
    // A host hands over the same string for the text `abc` and for the JSON `"abc"`: to the tool they are one and the same.
    expect(keyOf('tool', 'abc')).toBe(parsed('"abc"'))
  })

  it('an object may appear with its keys in ever other orders among others', () => {
    const orders = ['{"a":1,"b":2,"c":3}', '{"b":2,"c":3,"a":1}', '{"c":3,"a":1,"b":2}', '{"c":3,"b":2,"a":1}']
    const rows = (pick: (index: number) => number): string =>
      `[${Array.from({ length: 50 }, (_, index) => `${orders[pick(index) % 4]},{"id":${index}},{"n":{"x":1,"w":2}}`).join(',')}]`
    const plain = parsed(rows(() => 0))
    expect(parsed(rows((index) => index))).toBe(plain)
    expect(parsed(rows((index) => index * index + (index >> 2)))).toBe(plain)
  })

  it('objects that are alike are kept apart', () => {
    const shapes = ['ab,cd,ef', 'ab,ce,ef', 'aa,cd,ef', 'ab,cd,eg'].map((keys) =>
      Object.fromEntries(keys.split(',').map((key) => [key, 1])),
    )
    const lists = shapes.flatMap((one) => shapes.flatMap((two) => shapes.map((three) => [one, two, three, one])))
    expect(new Set(lists.map((list) => keyOf('tool', list))).size).toBe(lists.length)
  })
})

describe('what JSON cannot hold, in another host', () => {
  it('no arguments at all are an identity of their own', () => {
    const identities = [undefined, null, {}, [], '', 'undefined', 'undefined undefined'].map((args) => keyOf('tool', args))
    expect(new Set(identities).size).toBe(identities.length)
    expect(keyOf('tool', undefined)).toBe(identities[0])
  })

  it.each([
    ['numbers', [NaN, Infinity, -Infinity, null, 'NaN', 0]],
    ['bigints', [1n, 2n, 1, '1', 'bigint 1']],
    ['symbols', [Symbol('a'), Symbol('b'), 'Symbol(a)']],
    ['dates', [new Date(0), new Date(1), new Date(0).toJSON()]],
    ['holes', [[undefined], [null], [], { 0: undefined }, {}]],
  ])('tells %s apart by kind and text', (_title, values) => {
    const identities = values.map((value) => keyOf('tool', { value }))
    expect(new Set(identities).size).toBe(values.length)
    expect(values.map((value) => keyOf('tool', { value }))).toEqual(identities)
  })

  it('objects of another realm and without a prototype are plain', async () => {
    const { runInNewContext } = await import('node:vm')
    const foreign: unknown = runInNewContext('({ b: [1, { c: 2 }], a: 0 })')
    const bare = Object.assign(Object.create(null) as object, { a: 0, b: [1, Object.assign(Object.create(null) as object, { c: 2 })] })
    expect(keyOf('tool', foreign)).toBe(keyOf('tool', { a: 0, b: [1, { c: 2 }] }))
    expect(keyOf('tool', bare)).toBe(keyOf('tool', { a: 0, b: [1, { c: 2 }] }))
  })

  it('only own keys count, also when somebody has given every object one', () => {
    const own = { a: 1, extra: 1 }
    const args = [{ a: 1 }, own, {}, [own, own, { a: 1 }], [own, own, own]]
    const before = args.map((value) => keyOf('tool', value))
    put(Object.prototype as unknown as Record<string, unknown>, 'extra', 1)
    try {
      expect(args.map((value) => keyOf('tool', value))).toEqual(before)
    } finally {
      delete (Object.prototype as { extra?: unknown }).extra
    }
  })

  it('what throws when it is read throws, and the next identity is none the worse', () => {
    const before = keyOf('tool', { a: 1 })
    const hostile = {
      get a(): never {
        throw new Error('not for you')
      },
    }
    expect(() => keyOf('tool', { list: [1, 2, hostile] })).toThrow('not for you')
    expect(keyOf('tool', { a: 1 })).toBe(before)
  })

  it('an identity asked for while another is made disturbs neither', () => {
    const inner = keyOf('inner', { b: 2 })
    const seen: string[] = []
    const args = {
      a: 'x'.repeat(200),
      get b(): string {
        seen.push(keyOf('inner', { b: 2 }))
        return 'y'
      },
    }
    expect(keyOf('outer', args)).toBe(keyOf('outer', { a: 'x'.repeat(200), b: 'y' }))
    expect(new Set(seen)).toEqual(new Set([inner]))
  })
})

function wideObject(keys: number, from: number): string {
  const order = Array.from({ length: keys }, (_, index) => (index + from) % keys)
  return `{${order.map((index) => `"key ${index}":${index}`).join(',')}}`
}

/** `whole` with the value at its `at`-th place, counted in one walk and taken in a circle, exchanged for `part`. */
function replacedAt(whole: unknown, at: number, part: unknown): unknown {
  let places = 0
  const walk = (value: unknown, target: number): unknown => {
    if (places++ === target) return part
    if (Array.isArray(value)) return value.map((item) => walk(item, target))
    if (typeof value !== 'object' || value === null) return value
    return Object.entries(value).reduce<Record<string, unknown>>((object, [key, item]) => put(object, key, walk(item, target)), {})
  }
  walk(whole, -1)
  const target = at % places
  places = 0
  return walk(whole, target)
}
