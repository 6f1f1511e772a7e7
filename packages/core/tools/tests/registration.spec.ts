import type { Context } from '@deepseek-ai/cordis'
import { MAX_TIMER_DELAY_MS } from '@loopguard/timeout'
import { defineTool, type ToolDefinition } from '@loopguard/tools'
import { describe, expect, it } from 'vitest'
import { bogus, codeOf, Host, said, unfrozen } from './support.ts'

const proper: ToolDefinition = { name: 'read', description: 'Reads.', parameters: {}, execute: () => 'read' }

describe('a definition is refused, by name, when', () => {
  const deep = (depth: number): object => {
    let schema: object = {}
    for (let level = 0; level < depth; level++) schema = { not: schema }
    return schema
  }
  it.each<[string, unknown, string | RegExp]>([
    ['it is none', null, 'tools: a tool must be an object, got null'],
    ['its name is blank', { ...proper, name: ' ' }, 'tools: the `name` of a tool must be non-blank text, got " "'],
    ['its name is no text', { ...proper, name: 5 }, 'tools: the `name` of a tool must be non-blank text, got 5'],
    ['it has no description', { ...proper, description: undefined }, 'tools: tool "read": `description` must be text, got undefined'],
    ['it has no body', { ...proper, execute: undefined }, 'tools: tool "read": `execute` must be a function, got undefined'],
    [
      'its parameters are missing',
      { ...proper, parameters: undefined },
      'tools: tool "read": `parameters` must be a JSON Schema object, got undefined',
    ],
    [
      'its parameters are a list',
      { ...proper, parameters: [] },
      'tools: tool "read": `parameters` must be a JSON Schema object, got an array',
    ],
    ['its parameters are true', { ...proper, parameters: true }, 'tools: tool "read": `parameters` must be a JSON Schema object, got true'],
    [
      'its parameters are not JSON',
      { ...proper, parameters: { properties: { a: undefined } } },
      'tools: tool "read": parameters.properties.a is undefined',
    ],
    [
      'its parameters are a class',
      { ...proper, parameters: { properties: { at: new Date(0) } } },
      'tools: tool "read": parameters.properties.at is a Date, not a plain object',
    ],
    [
      'its parameters are no schema',
      { ...proper, parameters: { type: 'objekt' } },
      /^tools: tool "read": parameters must be a JSON Schema: parameters\/type must be/,
    ],
    [
      'its parameters refer to what is not there',
      { ...proper, parameters: { $ref: '#/$defs/none' } },
      /must be a JSON Schema: can't resolve reference #\/\$defs\/none/,
    ],
    [
      'its parameters hold a bad pattern',
      { ...proper, parameters: { pattern: '(' } },
      /must be a JSON Schema: .*Invalid regular expression/,
    ],
    [
      'its parameters are asynchronous',
      { ...proper, parameters: { $async: true } },
      'tools: tool "read": parameters must not be an asynchronous schema (`$async`)',
    ],
    ['its parameters nest too deeply', { ...proper, parameters: deep(100_000) }, /^tools: tool "read": parameters must be a JSON Schema: /],
    [
      'it names another draft',
      { ...proper, parameters: { $schema: 'http://json-schema.org/draft-04/schema#' } },
      'tools: tool "read": parameters names the unsupported draft "http://json-schema.org/draft-04/schema#" in $schema; supported are draft-07, 2019-09, 2020-12',
    ],
    ['it names no draft as its draft', { ...proper, parameters: { $schema: 7 } }, /names the unsupported draft 7 in \$schema/],
    ...[0, 0.5, -1, NaN, Infinity, '50', null, MAX_TIMER_DELAY_MS + 1].map((timeoutMs): [string, unknown, RegExp] => [
      `its budget is ${timeoutMs}`,
      { ...proper, timeoutMs },
      /^tools: tool "read": `timeoutMs` must be a finite number of milliseconds in 1…2147483647, got /,
    ]),
    [
      'its concludesTurn is no boolean',
      { ...proper, concludesTurn: 'yes' },
      'tools: tool "read": `concludesTurn` must be true or false, got "yes"',
    ],
    [
      'its isConcurrencySafe is no function',
      { ...proper, isConcurrencySafe: true },
      'tools: tool "read": `isConcurrencySafe` must be a function, got true',
    ],
    ...[
      ['timeoutMS', 'timeoutMs'],
      ['timeout', 'timeoutMs'],
      ['timeout_ms', 'timeoutMs'],
      ['concludeTurn', 'concludesTurn'],
      ['isConcurrentSafe', 'isConcurrencySafe'],
    ].map(([key = '', meant]): [string, unknown, string] => [
      `${key} was meant for ${meant}`,
      { ...proper, [key]: 50 },
      `tools: tool "read": \`${key}\` is unknown, did you mean \`${meant}\`?`,
    ]),
  ])(
    '%s',
    async (_name, definition, message) => {
      const host = await Host.start()
      let thrown: unknown
      try {
        host.tools.register(definition as ToolDefinition)
      } catch (error) {
        thrown = error
      }
      expect(thrown).toMatchObject({ name: 'HarnessError', code: 'BAD_TOOL' })
      expect((thrown as Error).message).toSatisfy((text: string) => (typeof message === 'string' ? text === message : message.test(text)))
      expect(host.tools.schemas()).toHaveLength(1)
    },
    60_000,
  )

  it('its name is taken', async () => {
    const host = await Host.start()
    expect(() => host.tool({ description: 'another' })).toThrow(
      expect.objectContaining({ code: 'TOOL_EXISTS', message: 'tools: a tool "echo" is registered already' }),
    )
  })
})

describe('a definition that is registered', () => {
  it.each([1, 1.5, MAX_TIMER_DELAY_MS])('may have a budget of %d', async (timeoutMs) => {
    const host = await Host.start()
    host.tools.register({ ...proper, timeoutMs })
    expect(host.tools.get('read')?.timeoutMs).toBe(timeoutMs)
  })

  it('is what get gives', async () => {
    const host = await Host.start()
    host.tools.register(proper)
    expect(host.tools.get('read')).toBe(proper)
    expect(host.tools.get('raed')).toBeUndefined()
    expect(host.tools.get('toString')).toBeUndefined()
  })

  it('may hold what other hosts know, and a class its own fields', async () => {
    const host = await Host.start()
    host.tools.register({ ...proper, output: { schema: {} }, title: 'Read', constructor: Object } as ToolDefinition)
    class Fetching {
      name = 'fetch'
      description = ''
      parameters = {}
      timeout = 50
      execute = () => String(this.timeout)
    }
    host.tools.register(new Fetching())
    expect(host.tools.schemas().map(({ name }) => name)).toEqual(['echo', 'read', 'fetch'])
  })

  it('keeps its methods to itself: a class can be a tool', async () => {
    class Counter implements ToolDefinition {
      readonly name = 'count'
      readonly description = ''
      readonly parameters = {}
      #count = 0
      execute(): string {
        return String(++this.#count)
      }
      isConcurrencySafe(): boolean {
        return this.#count === 0
      }
    }
    const host = await Host.start()
    host.tools.register(new Counter())
    expect(host.tools.executionMode({ name: 'count', arguments: {} })).toEqual({ kind: 'parallel' })
    expect(said(await host.call({ name: 'count' }))).toBe('1')
    expect(host.tools.executionMode({ name: 'count', arguments: {} })).toEqual({ kind: 'exclusive' })
  })

  it('cannot be turned into another by changing the object', async () => {
    const host = await Host.start()
    const parameters: Record<string, unknown> = { type: 'object', properties: { n: { type: 'number' } } }
    const definition = { ...proper, parameters }
    host.tools.register(definition)
    parameters['properties'] = undefined
    definition.execute = () => 'other'
    definition.name = 'other'
    expect(host.tools.schemas()[1]).toEqual({
      name: 'read',
      description: 'Reads.',
      parameters: { type: 'object', properties: { n: { type: 'number' } } },
    })
    expect(said(await host.call({ name: 'read' }))).toBe('read')
    expect(codeOf(await host.call({ name: 'read', arguments: { n: 'x' } }))).toBe('INVALID_ARGS')
  })

  it('may have any name that is not blank', async () => {
    const host = await Host.start()
    for (const name of ['__proto__', 'constructor', 'two words', '\u{1F600}']) {
      host.tool({ name, execute: () => name })
      expect(said(await host.call({ name }))).toBe(name)
    }
  })

  it('is gone after its disposer ran, once, and the name is free again', async () => {
    const host = await Host.start()
    const dispose = host.tools.register(proper)
    dispose()
    expect(host.tools.get('read')).toBeUndefined()
    expect(codeOf(await host.call({ name: 'read' }))).toBe('UNKNOWN_TOOL')
    host.tools.register({ ...proper, execute: () => 'second' })
    dispose()
    expect(said(await host.call({ name: 'read' }))).toBe('second')
  })

  it('goes with the fiber that registered it, and so do guards', async () => {
    const host = await Host.start()
    const plugin = host.ctx.plugin({
      name: 'reader',
      inject: ['tools'],
      apply(ctx: Context) {
        ctx.tools.register(proper)
        ctx.tools.guard(() => 'guarded')
      },
    })
    await plugin
    expect(plugin.getEffects().map(({ label }) => label)).toEqual(['ctx.tools.register("read")', 'ctx.tools.guard()'])
    expect(said(await host.call({ name: 'read' }))).toBe('Error: guarded')
    await plugin.dispose()
    expect(codeOf(await host.call({ name: 'read' }))).toBe('UNKNOWN_TOOL')
    expect(said(await host.call())).toBe('done')
  })

  it('cannot be had from a fiber that is gone', async () => {
    const host = await Host.start()
    let kept!: Context
    const plugin = host.ctx.plugin({ name: 'gone', inject: ['tools'], apply: (ctx: Context) => void (kept = ctx) })
    await plugin
    const { tools } = kept
    await plugin.dispose()
    expect(() => tools.register(proper)).toThrow('inactive context')
    expect(host.tools.get('read')).toBeUndefined()
  })
})

describe('schemas', () => {
  it('tell name, description and parameters, in order of registration, deep-frozen', async () => {
    const host = await Host.start()
    host.tools.register({ ...proper, timeoutMs: 5, concludesTurn: true, parameters: { type: 'object' } })
    host.tool({ name: 'a' })
    const schemas = host.tools.schemas()
    expect(schemas).toEqual([
      { name: 'echo', description: '', parameters: {} },
      { name: 'read', description: 'Reads.', parameters: { type: 'object' } },
      { name: 'a', description: '', parameters: {} },
    ])
    expect(unfrozen(schemas)).toEqual([])
  })

  it('are the very same list until a tool comes or goes', async () => {
    const host = await Host.start()
    const first = host.tools.schemas()
    expect(host.tools.schemas()).toBe(first)
    const dispose = host.tools.register(proper)
    const second = host.tools.schemas()
    expect(second).toHaveLength(2)
    expect(second[0]).toBe(first[0])
    dispose()
    expect(host.tools.schemas()).toEqual(first)
  })
})

it('defineTool gives back the very definition, with its types', async () => {
  const definition: ToolDefinition<{ readonly n: number }> = {
    name: 'double',
    description: '',
    parameters: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
    execute: ({ n }) => String(n * 2),
  }
  expect(defineTool(definition)).toBe(definition)
  const host = await Host.start()
  host.tools.register(defineTool<{ readonly n: number }>(definition))
  expect(said(await host.call({ name: 'double', arguments: { n: 21 } }))).toBe('42')
})

it('a tool that is looked up by a name which is no text is none', async () => {
  const host = await Host.start()
  expect(host.tools.get(bogus(undefined))).toBeUndefined()
})
