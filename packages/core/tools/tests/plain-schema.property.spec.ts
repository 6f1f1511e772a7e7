import { Ajv } from 'ajv'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isPlain } from '../src/plain-schema.ts'

const DRAFTS = [Ajv, Ajv2019, Ajv2020].map((dialect) => new dialect({ strict: false, logger: false, validateFormats: false }))

const COUNTS = ['minLength', 'maxLength', 'minItems', 'maxItems']
const BOUNDS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum']
const TYPES = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string']
const JSON_VALUES = fc.jsonValue({ maxDepth: 2 })

/** Schemas of which about a half are plain: what a keyword holds is mostly of the right kind, and sometimes anything. */
const { node: schemas } = fc.letrec<{ node: unknown; schema: unknown }>((tie) => {
  const mostly = (good: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
    fc.oneof({ weight: 12, arbitrary: good }, { weight: 1, arbitrary: JSON_VALUES })
  const entry = (keys: readonly string[], good: fc.Arbitrary<unknown>): fc.Arbitrary<[string, unknown]> =>
    fc.tuple(fc.constantFrom(...keys), mostly(good))
  const keyword = fc.oneof(
    entry(['title', 'description'], fc.string()),
    entry(['default', 'const'], JSON_VALUES),
    entry(['enum'], fc.array(JSON_VALUES)),
    entry(['type'], fc.oneof(fc.constantFrom(...TYPES), fc.array(fc.constantFrom(...TYPES), { maxLength: 3 }))),
    entry(['properties'], fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('$ref', '$id', 'toString', '__proto__')), tie('schema'))),
    entry(['required'], fc.array(fc.string(), { maxLength: 3 })),
    entry(['additionalProperties', 'items'], tie('schema')),
    entry(BOUNDS, fc.double({ noNaN: true, noDefaultInfinity: true })),
    entry(COUNTS, fc.integer({ min: -1, max: 5 })),
    fc.tuple(fc.constantFrom('$ref', 'pattern', 'anyOf', 'x-note'), JSON_VALUES),
  )
  return {
    schema: fc.oneof({ depthSize: 'small' }, fc.boolean(), tie('node')),
    node: fc.array(keyword, { maxLength: 4 }).map((entries) => JSON.parse(JSON.stringify(Object.fromEntries(entries))) as unknown),
  }
})

describe('a plain schema', () => {
  it('is valid in every draft, and compiles', () => {
    let plain = 0
    fc.assert(
      fc.property(schemas, (schema) => {
        if (!isPlain(schema)) return
        plain++
        for (const draft of DRAFTS) {
          expect({ isValid: draft.validateSchema(schema as object), errors: draft.errors ?? [] }).toEqual({ isValid: true, errors: [] })
          expect(() => draft.compile(schema as object)).not.toThrow()
        }
      }),
      { numRuns: 400 },
    )
    expect(plain).toBeGreaterThan(100)
  })

  it('has what most tools have', () => {
    const items = { type: 'array', items: { type: ['string', 'null'], minLength: 1 }, maxItems: 5 }
    const of = { type: 'object', properties: { items, mode: { enum: ['a'] } }, required: ['items'], additionalProperties: false }
    expect(isPlain(of)).toBe(true)
  })

  it.each<[why: string, schema: unknown]>([
    ['a keyword that is not common', { pattern: '[' }],
    ['a keyword of Object', { toString: 1 }],
    ['a reference', { $ref: '#/nowhere' }],
    ['a type that is none', { type: 'objekt' }],
    ['a list of no types', { type: [] }],
    ['a type that is listed twice', { type: ['string', 'string'] }],
    ['nothing to choose from', { enum: [] }],
    ['a choice that is listed twice', { enum: ['a', 'a'] }],
    ['objects to choose from', { enum: [{}] }],
    ['a name that is required twice', { required: ['a', 'a'] }],
    ['items of the older kind', { items: [{ type: 'string' }] }],
    ['a count below zero', { minLength: -1 }],
    ['a fraction of a count', { maxItems: 0.5 }],
    ['a bound that is text', { minimum: '0' }],
    ['a fault further down', { properties: { a: { items: { type: 'text' } } } }],
    ['no schema', null],
  ])('is not one with %s', (_, schema) => {
    expect(isPlain(schema)).toBe(false)
  })

  it('is not one that nests deeply: the compiler is to say so', () => {
    let schema: object = { type: 'string' }
    for (let depth = 0; depth < 100_000; depth++) schema = { items: schema }
    expect(isPlain(schema)).toBe(false)
  })
})
