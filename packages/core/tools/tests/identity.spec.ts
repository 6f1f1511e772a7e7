import { CallId } from '@loopguard/llm'
import type { ToolExecution } from '@loopguard/tools'
import { describe, expect, it } from 'vitest'
import { bogus, codeOf, Host, said, unfrozen } from './support.ts'

describe('the execution', () => {
  it('carries what the caller gave, and a token of its own', async () => {
    const host = await Host.start()
    const agent = await host.agent('a')
    const { signal } = new AbortController()
    const parent = Symbol('parent')
    const seen: ToolExecution[] = []
    host.ctx.on('tools/pre-execute', (exec, next) => (seen.push(exec), next()))
    await host.tools.execute({ callId: CallId('c1'), name: 'echo', arguments: { a: 1 }, signal, agent, parent })
    await host.tools.execute({ callId: CallId('c1'), name: 'echo', arguments: { a: 1 }, signal })
    expect(seen[0]).toMatchObject({ callId: 'c1', name: 'echo', arguments: { a: 1 }, parent, signal })
    expect(seen[0]?.agent).toBe(agent)
    expect(seen[1]).toMatchObject({ agent: undefined, parent: undefined })
    expect(typeof seen[0]?.token).toBe('symbol')
    expect(seen[0]?.token).not.toBe(seen[1]?.token)
  })

  it('is the same object for every listener and guard, and has the same identity for the body', async () => {
    const seen = new Set<unknown>()
    let body!: ToolExecution
    const host = await Host.start((_args, exec) => ((body = exec), 'done'))
    host.ctx.on('tools/pre-execute', (exec, next) => (seen.add(exec), next()))
    host.tools.guard((exec) => bogus(void seen.add(exec)))
    host.ctx.on('tools/execute', (exec, next) => (seen.add(exec), next()))
    host.ctx.on('tools/post-execute', (exec, _result, next) => (seen.add(exec), next()))
    host.ctx.on('tools/result', (exec) => void seen.add(exec))
    const call = await host.tools.prepare(host.input())
    await call.dispatch()
    await call.finish()
    expect([...seen]).toEqual([call.exec])
    const { callId, name, arguments: args, agent, parent, token, signal } = call.exec
    expect(body).toMatchObject({ callId, name, arguments: args, agent, parent, token, signal })
  })

  it.each(['callId', 'name', 'arguments', 'agent', 'parent', 'token'])('cannot be given another %s', async (field) => {
    const host = await Host.start()
    host.ctx.on('tools/execute', (exec, next) => {
      ;(exec as unknown as Record<string, unknown>)[field] = 'other'
      return next()
    })
    const result = await host.call()
    expect(said(result)).toContain(`Cannot assign to read only property '${field}'`)
  })

  it.each<[string, (exec: ToolExecution) => unknown]>([
    ['defined anew', (exec) => Object.defineProperty(exec, 'name', { value: 'other' })],
    ['deleted', (exec) => Reflect.deleteProperty(exec, 'name')],
    ['given another prototype', (exec) => Reflect.setPrototypeOf(exec, { name: 'other' })],
    [
      'changed through its prototype',
      (exec) => Reflect.defineProperty(Object.getPrototypeOf(exec) as object, 'signal', { value: 'other' }),
    ],
    ['extended', (exec) => Reflect.set(exec, 'extra', 1)],
  ])('cannot be %s', async (_name, tamper) => {
    const names: string[] = []
    const host = await Host.start((_args, exec) => (names.push(exec.name), 'done'))
    host.ctx.on('tools/execute', (exec, next) => {
      try {
        tamper(exec)
      } catch {
        // Refused, one way or the other.
      }
      return next()
    })
    expect(said(await host.call())).toBe('done')
    expect(names).toEqual(['echo'])
  })

  it('assigned another name runs the tool that was approved, or none', async () => {
    const ran: string[] = []
    const host = await Host.start(() => (ran.push('echo'), 'done'))
    host.tool({ name: 'other', execute: () => (ran.push('other'), 'done') })
    host.ctx.on('tools/pre-execute', (exec, next) => {
      ;(exec as { name: string }).name = 'other'
      return next()
    })
    await host.call()
    expect(ran).toEqual([])
  })

  it('as the body sees it is frozen, too', async () => {
    const host = await Host.start((_args, exec) => {
      ;(exec as { signal: AbortSignal }).signal = new AbortController().signal
      return 'done'
    })
    expect(said(await host.call())).toContain("Cannot assign to read only property 'signal'")
  })
})

describe('the arguments', () => {
  it('are a detached, deep-frozen copy', async () => {
    const args = { list: [{ a: 1 }], text: 'x' }
    const seen: unknown[] = []
    const host = await Host.start((given) => (seen.push(given), 'done'))
    host.ctx.on('tools/pre-execute', (exec, next) => (seen.push(exec.arguments), (args.text = 'changed'), next()))
    await host.call({ arguments: args })
    expect(seen).toEqual([
      { list: [{ a: 1 }], text: 'x' },
      { list: [{ a: 1 }], text: 'x' },
    ])
    expect(seen[0]).toBe(seen[1])
    expect(unfrozen(seen[0])).toEqual([])
    expect(unfrozen(args)).toHaveLength(3)
  })

  it('keep an own __proto__', async () => {
    let seen: unknown
    const host = await Host.start((args) => ((seen = args), 'done'))
    await host.call({ arguments: JSON.parse('{"__proto__":{"a":1}}') })
    expect(Object.keys(seen as object)).toEqual(['__proto__'])
    expect(JSON.stringify(seen)).toBe('{"__proto__":{"a":1}}')
    expect((seen as { a?: number }).a).toBeUndefined()
  })

  it('may nest a hundred thousand deep, under a schema that does not look that deep', async () => {
    let deep: unknown = 'bottom'
    for (let depth = 0; depth < 100_000; depth++) deep = depth % 2 === 0 ? [deep] : { a: deep }
    let seen: unknown
    const host = await Host.start((args) => ((seen = args), 'done'), {
      parameters: { type: 'object', properties: { a: { type: 'array' } }, required: ['a'], additionalProperties: false },
    })
    expect(said(await host.call({ arguments: { a: [deep] } }))).toBe('done')
    let depth = 0
    for (let at = seen; typeof at === 'object'; at = Object.values(at as object)[0]) depth++
    expect(depth).toBe(100_002)
  }, 60_000)

  it('under a schema that recurses, nested that deep, are invalid instead of an overflow', async () => {
    let deep: object = {}
    for (let depth = 0; depth < 100_000; depth++) deep = { a: deep }
    const host = await Host.start(undefined, { parameters: { type: 'object', properties: { a: { $ref: '#' } } } })
    const result = await host.call({ arguments: deep })
    expect([codeOf(result), said(result)]).toEqual([
      'INVALID_ARGS',
      'Error: invalid arguments: arguments cannot be checked: they nest too deeply',
    ])
  }, 60_000)

  it('may share references', async () => {
    const shared = { x: 1 }
    let seen!: { a: unknown; b: unknown }
    const host = await Host.start((args) => ((seen = args as typeof seen), 'done'))
    await host.call({ arguments: { a: shared, b: shared } })
    expect(seen).toEqual({ a: { x: 1 }, b: { x: 1 } })
  })

  it('may be any JSON value, text included', async () => {
    const seen: unknown[] = []
    const host = await Host.start((args) => (seen.push(args), 'done'))
    for (const args of [null, true, 0, 'text', [], ['a'], {}]) await host.call({ arguments: args })
    expect(seen).toEqual([null, true, 0, 'text', [], ['a'], {}])
  })

  const cyclic: Record<string, unknown> = {}
  cyclic['self'] = cyclic
  it.each<[string, unknown, string]>([
    ['undefined', undefined, 'arguments is undefined'],
    ['a function', { f: () => 1 }, 'arguments.f is a function'],
    ['a bigint', { list: [1n] }, 'arguments.list[0] is a bigint'],
    ['not finite', { a: { b: Infinity } }, 'arguments.a.b is Infinity: a number must be finite'],
    ['a cycle', cyclic, 'arguments.self is a cycle: it holds itself'],
    ['a class', { when: new Date(0) }, 'arguments.when is a Date, not a plain object'],
    ['an accessor', Object.defineProperty({}, 'x', { get: () => 1, enumerable: true }), 'arguments.x is an accessor'],
    ['a key with spaces', { 'a b': undefined }, 'arguments["a b"] is undefined'],
  ])('that are %s are refused with the place of the offence, and never seen', async (_name, args, why) => {
    const host = await Host.start()
    const seen: [string, unknown][] = []
    host.ctx.on('tools/pre-execute', (exec, next) => (seen.push(['pre', exec.arguments]), next()))
    host.ctx.on('tools/post-execute', (exec, _result, next) => (seen.push(['post', exec.arguments]), next()))
    const result = await host.call({ arguments: args })
    expect([codeOf(result), said(result)]).toEqual(['INVALID_ARGS', `Error: invalid arguments: ${why}`])
    expect(seen).toEqual([['post', undefined]])
  })

  it('that throw when they are looked at are refused', async () => {
    const trap = new Proxy(
      {},
      {
        ownKeys() {
          throw new Error('keep out')
        },
      },
    )
    const result = await (await Host.start()).call({ arguments: trap })
    expect(said(result)).toBe('Error: invalid arguments: arguments cannot be read: keep out')
  })
})

describe('what is no call at all', () => {
  const { signal } = new AbortController()
  const callId = CallId('c')
  it.each<[unknown, string]>([
    [undefined, 'tools: a call must be an object, got undefined'],
    [{ callId, name: 5, arguments: {}, signal }, "tools: a call's `name` must be text, got 5"],
    [{ name: 'echo', arguments: {}, signal }, "tools: a call's `callId` must be text, got undefined"],
    [{ callId, name: 'echo', arguments: {} }, "tools: a call's `signal` must be an AbortSignal, got undefined"],
    [{ callId, name: 'echo', arguments: {}, signal, agent: 'a' }, 'tools: a call\'s `agent` must be an agent, got "a"'],
    [
      { callId, name: 'echo', arguments: {}, signal, parent: 'a' },
      'tools: a call\'s `parent` must be the token of the enclosing call, got "a"',
    ],
  ])('%# is refused, before anything runs', async (input, message) => {
    const host = await Host.start()
    await expect(host.tools.execute(bogus(input))).rejects.toMatchObject({ code: 'BAD_CALL', message })
    await expect(host.tools.prepare(bogus(input))).rejects.toMatchObject({ code: 'BAD_CALL' })
  })
})
