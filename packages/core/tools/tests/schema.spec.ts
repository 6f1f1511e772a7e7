import type { ToolParameters } from '@loopguard/tools'
import { describe, expect, it } from 'vitest'
import { Host, said } from './support.ts'

/** What the model reads when `args` meet `parameters`: the violations, or `done`. */
async function checked(parameters: ToolParameters, args: unknown): Promise<string> {
  const host = await Host.start(undefined, { parameters })
  return said(await host.call({ arguments: args })).replace('Error: invalid arguments: ', '')
}

describe('a violation names the place, what is wanted and what was seen', () => {
  const file = {
    type: 'object',
    properties: {
      path: { type: 'string', minLength: 1 },
      mode: { enum: ['read', 'write'] },
      lines: { type: 'array', items: { type: 'integer' } },
    },
    required: ['path'],
    additionalProperties: false,
  }
  it.each<[ToolParameters, unknown, string]>([
    [file, { path: 'a', mode: 'read', lines: [1] }, 'done'],
    [file, {}, 'arguments must have the property "path"'],
    [file, { path: 5 }, 'arguments.path must be string, got 5'],
    [file, { path: '' }, 'arguments.path must NOT have fewer than 1 characters, got the text ""'],
    [file, { path: 'a', mode: 'delete' }, 'arguments.mode must be one of "read", "write", got the text "delete"'],
    [
      file,
      { path: 'a', lines: [1, '2', 3.5] },
      'arguments.lines[1] must be integer, got the text "2"; arguments.lines[2] must be integer, got 3.5',
    ],
    [file, { path: 'a', file: 'b' }, 'arguments must not have the property "file" (allowed: "path", "mode", "lines")'],
    [file, '{"path": "a"', 'arguments must be object, got the text "{\\"path\\": \\"a\\""'],
    [file, null, 'arguments must be object, got null'],
    [file, [], 'arguments must be object, got an array'],
    [{ type: ['string', 'null'] }, 5, 'arguments must be string or null, got 5'],
    [{ const: { a: 1 } }, 5, 'arguments must be {"a":1}, got 5'],
    [{ enum: [1, null, [2]] }, {}, 'arguments must be one of 1, null, [2], got an object'],
    [{ properties: { 'a b': { type: 'number' } } }, { 'a b': 'x' }, 'arguments["a b"] must be number, got the text "x"'],
    [{ properties: { 'a/b~c': { type: 'number' } } }, { 'a/b~c': 'x' }, 'arguments["a/b~c"] must be number, got the text "x"'],
    [
      { properties: { o: { properties: { 0: { type: 'number' } } } } },
      { o: { 0: 'x' } },
      'arguments.o["0"] must be number, got the text "x"',
    ],
    [
      { propertyNames: { maxLength: 2 } },
      { abc: 1 },
      'arguments must NOT have more than 2 characters, got the text "abc"; arguments has the property name "abc", which is not allowed',
    ],
    [{ minimum: 3 }, 2, 'arguments must be >= 3, got 2'],
    [{ dependentRequired: { a: ['b'] } }, { a: 1 }, 'arguments must have the property "b"'],
    [{ unevaluatedProperties: false }, { a: 1 }, 'arguments must not have the property "a"'],
    [{ not: {} }, 1, 'arguments must NOT be valid, got 1'],
  ])('%#', async (parameters, args, words) => {
    expect(await checked(parameters, args)).toBe(words)
  })

  it('names a few at most, and how many more there are', async () => {
    const words = await checked(
      { items: { type: 'number' } },
      Array.from({ length: 1_000 }, () => 'x'),
    )
    expect(words.split('; ')).toHaveLength(9)
    expect(words).toMatch(/^arguments\[0\] must be number, got the text "x"; .*; and 992 more$/)
  })

  it('stays short and well-formed, whatever the arguments hold', async () => {
    const long = '\u{1F600}'.repeat(10_000)
    for (const parameters of [
      { type: 'number' },
      { maxProperties: 0 },
      { additionalProperties: { type: 'number' } },
      { additionalProperties: false },
      { enum: [long] },
    ]) {
      for (const args of [long, { [long]: long }]) {
        const words = await checked(parameters, args)
        if (words === 'done') continue
        expect(words.length).toBeLessThan(600)
        expect(words).toBe(Buffer.from(words).toString())
      }
    }
  })
})

describe('a schema', () => {
  it('that is empty accepts anything', async () => {
    for (const args of [{}, [], 'text', null]) expect(await checked({}, args)).toBe('done')
  })

  it.each<[string | undefined, ToolParameters, unknown, unknown]>([
    ['http://json-schema.org/draft-07/schema#', { items: [{ type: 'number' }] }, [1, 'x'], ['x']],
    ['http://json-schema.org/draft-07/schema', { items: [{ type: 'number' }] }, [1], ['x']],
    ['https://json-schema.org/draft/2019-09/schema', { items: [{ type: 'number' }], unevaluatedItems: false }, [1], [1, 2]],
    ['https://json-schema.org/draft/2020-12/schema', { prefixItems: [{ type: 'number' }], items: false }, [1], [1, 2]],
    [undefined, { prefixItems: [{ type: 'number' }], items: false }, [1], [1, 2]],
  ])('speaks the draft %s', async ($schema, rest, good, bad) => {
    const parameters = $schema === undefined ? rest : { $schema, ...rest }
    expect(await checked(parameters, good)).toBe('done')
    expect(await checked(parameters, bad)).not.toBe('done')
  })

  it('may hold formats and keywords that nobody knows', async () => {
    expect(await checked({ properties: { at: { type: 'string', format: 'moon-phase', 'x-ui': 'slider' } } }, { at: 'full' })).toBe('done')
  })

  it('may hold a pattern that is valid only as the older kind', async () => {
    expect(await checked({ pattern: '^\\_[a-z]+$' }, '_abc')).toBe('done')
    expect(await checked({ pattern: '^\\_[a-z]+$' }, 'abc')).toContain('must match pattern')
    expect(await checked({ pattern: '^.$' }, '\u{1F600}')).toBe('done')
  })

  it('looks at own properties only', async () => {
    expect(await checked({ required: ['toString'] }, {})).toBe('arguments must have the property "toString"')
    expect(await checked({ properties: { constructor: { type: 'string' } } }, {})).toBe('done')
  })

  it('changes nothing: defaults are not filled in, types are not converted', async () => {
    const seen: unknown[] = []
    const parameters = { properties: { n: { type: 'number', default: 1 } } }
    const host = await Host.start((args) => (seen.push(args), 'done'), { parameters })
    await host.call({ arguments: {} })
    await host.call({ arguments: { n: '1' } })
    expect(seen).toEqual([{}])
  })

  it('may refer to itself, and to the schema of schemas', async () => {
    const tree = { $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } }, $ref: '#/$defs/node' }
    expect(await checked(tree, { next: { next: {} } })).toBe('done')
    expect(await checked(tree, { next: { next: 5 } })).toBe('arguments.next.next must be object, got 5')
    const meta = { properties: { schema: { $ref: 'https://json-schema.org/draft/2020-12/schema' } } }
    expect(await checked(meta, { schema: { type: 'object' } })).toBe('done')
    expect(await checked(meta, { schema: { type: 'objekt' } })).toContain('arguments.schema.type')
  })

  it('with an $id clashes with no other, resolves for no other, and leaves nothing behind', async () => {
    const host = await Host.start()
    const parameters = (type: string) => ({
      $id: 'https://example.test/args',
      $defs: { n: { $id: 'https://example.test/n', type } },
      $ref: 'https://example.test/n',
    })
    const first = host.tool({ name: 'first', parameters: parameters('number') })
    host.tool({ name: 'second', parameters: parameters('string') })
    expect(said(await host.call({ name: 'first', arguments: 1 }))).toBe('done')
    expect(said(await host.call({ name: 'second', arguments: 'x' }))).toBe('done')
    expect(said(await host.call({ name: 'second', arguments: 1 }))).toContain('must be string')
    expect(() => host.tool({ name: 'third', parameters: { $ref: 'https://example.test/n' } })).toThrow("can't resolve reference")
    first()
    host.tool({ name: 'first', parameters: parameters('boolean') })
    expect(said(await host.call({ name: 'first', arguments: true }))).toBe('done')
  })

  it('is checked just before the body, in each attempt, after everybody was asked', async () => {
    const asked: string[] = []
    const host = await Host.start(undefined, { parameters: { type: 'string' } })
    host.ctx.on('tools/pre-execute', (_exec, next) => (asked.push('pre'), next()))
    host.ctx.on('tools/execute', async (_exec, next) => (asked.push('execute'), await next(), next()))
    expect(said(await host.call({ arguments: 1 }))).toContain('invalid arguments')
    expect(asked).toEqual(['pre', 'execute'])
  })
})
