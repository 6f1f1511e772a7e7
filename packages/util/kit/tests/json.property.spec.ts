import { isDeepStrictEqual } from 'node:util'
import { type JsonError, type JsonValue, parseSnapshot, snapshot } from '@loopguard/kit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

const keys = fc.oneof(fc.constantFrom('__proto__', 'constructor', '', 'a b', '0', '\ud83d'), fc.string({ unit: 'binary' }))
const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(fc.string({ unit: 'binary' }), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), fc.constant(null)),
    fc.array(tie('json'), { maxLength: 5 }),
    fc.dictionary(keys, tie('json'), { maxKeys: 5, noNullPrototype: true }),
  ),
}))

/** What was met on a walk through a value, root first. */
function partsOf(value: unknown): object[] {
  const parts: object[] = []
  const open = [value]
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (typeof at !== 'object' || at === null) continue
    parts.push(at)
    open.push(...Object.values(at))
  }
  return parts
}

describe('for any JSON value', () => {
  it('a snapshot says the same, shares nothing with its source and is frozen at every depth', () => {
    fc.assert(
      fc.property(json, (value) => {
        const before = JSON.stringify(value)
        const copy = snapshot(value)
        expect(JSON.stringify(copy)).toBe(before)
        expect(JSON.stringify(value)).toBe(before)
        const own = new Set(partsOf(value))
        expect(partsOf(copy).filter((part) => own.has(part) || !Object.isFrozen(part))).toEqual([])
        expect(snapshot(copy)).toBe(copy)
      }),
      { numRuns: 200 },
    )
  }, 60_000)

  it('parsing and freezing in one is a snapshot of what JSON.parse gives', () => {
    fc.assert(
      fc.property(json, (value) => {
        const text = JSON.stringify(value)
        const parsed = parseSnapshot(text)
        expect(isDeepStrictEqual(parsed, snapshot(JSON.parse(text)))).toBe(true)
        expect(partsOf(parsed).every((part) => Object.isFrozen(part))).toBe(true)
        expect(snapshot(parsed)).toBe(parsed)
      }),
      { numRuns: 200 },
    )
  }, 60_000)

  it('one part that is not JSON is found wherever it stands, and the path leads to it', () => {
    const steps = fc.array(fc.oneof(fc.nat({ max: 3 }), fc.stringMatching(/^[a-z]{1,5}$/)), { minLength: 1, maxLength: 8 })
    fc.assert(
      fc.property(json, steps, fc.constantFrom<unknown>(undefined, Number.NaN, 1n, new Date(0)), (other, path, bad) => {
        const value = path.reduceRight<unknown>(
          (inner, step) =>
            typeof step === 'number' ? [...Array.from({ length: step }, () => other), inner, other] : { first: other, [step]: inner },
          bad,
        )
        let found: JsonError | undefined
        try {
          snapshot(value)
        } catch (thrown) {
          found = thrown as JsonError
        }
        expect(found?.path).toBe(`data${path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('')}`)
      }),
      { numRuns: 200 },
    )
  }, 60_000)
})

describe('parseSnapshot', () => {
  it('refuses text that is no JSON as JSON.parse does', () => {
    expect(() => parseSnapshot('{"a":')).toThrow(SyntaxError)
    expect(() => parseSnapshot('')).toThrow(SyntaxError)
  })

  it('refuses a number that is out of range, with its path, however much of the text is sound', () => {
    expect(() => parseSnapshot('{"a":{"b":[1,1e999]},"c":{}}')).toThrow('data.a.b[1] is Infinity: a number must be finite')
    expect(() => parseSnapshot('1e999', 'arguments')).toThrow('arguments is Infinity')
    expect(() => parseSnapshot('[[],[-1e999]]', 'arguments')).toThrow('arguments[1][0] is -Infinity')
  })

  it('takes -0 for 0, an own __proto__ for a key, and any depth', () => {
    expect(Object.is(parseSnapshot('-0'), 0)).toBe(true)
    expect(Object.is((parseSnapshot('[-0]') as number[])[0], 0)).toBe(true)
    expect(JSON.stringify(parseSnapshot('{"__proto__":[1]}'))).toBe('{"__proto__":[1]}')
    let at: JsonValue | undefined = parseSnapshot('['.repeat(100_000) + ']'.repeat(100_000))
    let depth = 0
    for (; at !== undefined; depth++) {
      if (!Object.isFrozen(at)) throw new Error(`level ${depth} is not frozen`)
      at = (at as readonly JsonValue[])[0]
    }
    expect(depth).toBe(100_000)
  })
})
