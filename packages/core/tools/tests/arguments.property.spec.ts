import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Host, said, unfrozen } from './support.ts'

const key = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('__proto__', 'constructor', 'toString', 'length', '0', ''))

/** What JSON can hold, with the keys and the strings that go wrong elsewhere. */
const { value: json } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, depthSize: 'small' },
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
    ),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(fc.tuple(key, tie('value')), { maxLength: 4 }).map((entries) => {
      const object = {}
      for (const [name, value] of entries)
        Object.defineProperty(object, name, { value, enumerable: true, writable: true, configurable: true })
      return object
    }),
  ),
}))

it('any JSON value comes through as it is, frozen, to listeners and body alike', async () => {
  const seen: unknown[] = []
  const host = await Host.start((args) => (seen.push(args), 'done'))
  host.ctx.on('tools/pre-execute', (exec, next) => (seen.push(exec.arguments), next()))
  host.ctx.on('tools/post-execute', (exec, _result, next) => (seen.push(exec.arguments), next()))
  await fc.assert(
    fc.asyncProperty(json, async (value) => {
      seen.length = 0
      const text = JSON.stringify(value)
      expect(said(await host.call({ arguments: value }))).toBe('done')
      expect(seen.map((args) => JSON.stringify(args))).toEqual([text, text, text])
      expect(unfrozen(seen[0])).toEqual([])
      expect(JSON.stringify(value)).toBe(text)
    }),
    { numRuns: 500 },
  )
}, 60_000)

it('any text that a tool returns, and any content, reaches the result as it is', async () => {
  const host = await Host.start()
  const block = fc.record({ type: fc.constantFrom('text' as const, 'reasoning' as const), text: fc.string({ unit: 'binary' }) })
  await fc.assert(
    fc.asyncProperty(fc.array(block, { maxLength: 5 }), async (blocks) => {
      host.body = async () => blocks
      const result = await host.call()
      expect(result).toEqual({ isError: false, content: blocks })
      expect(unfrozen(result)).toEqual([])
    }),
  )
}, 60_000)
