import type { Context } from '@deepseek-ai/cordis'
import * as acp from '@loopguard/acp'
import { createHarness } from '@loopguard/testkit'
import fc from 'fast-check'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { host, until, wireWithTap } from './support.ts'

// The protocol library tells there of what it drops.
beforeEach(() => void vi.spyOn(console, 'error').mockImplementation(() => {}))

/** Sends lines as they are, and says how the agent has answered; the session then goes on. */
async function sending(lines: readonly string[], count: number) {
  const made = await host({ script: [{ text: 'Still here.' }] })
  const id = await made.open()
  const before = made.frames.length
  for (const line of lines) made.input.write(`${line}\n`)
  expect(await made.prompt(id, 'go')).toEqual({ stopReason: 'end_turn' })
  const errors = () =>
    made.frames.slice(before).flatMap(({ id: request, error }) => {
      if (error === undefined) return []
      return [[request, (error as { readonly code: number }).code]]
    })
  await until(() => errors().length >= count, `${count} answers`)
  return errors()
}

const ask = (method: string, params: unknown, id: unknown = 'x'): string => JSON.stringify({ jsonrpc: '2.0', id, method, params })

describe('what is no request gets an error of the protocol, and the session goes on', () => {
  it.each([
    ['no JSON', '{"jsonrpc": "2.0", ', [null, -32700]],
    ['no JSON at all', 'hello agent', [null, -32700]],
    ['NULs', '\0\0\0', [null, -32700]],
    ['a batch', `[${ask('initialize', {})}]`, [null, -32600]],
    ['an empty batch', '[]', [null, -32600]],
    ['a number', '42', [null, -32600]],
    ['text', '"go"', [null, -32600]],
    ['null', 'null', [null, -32600]],
    ['another version', '{"jsonrpc":"1.0","id":1,"method":"initialize"}', [null, -32600]],
    ['an id that is a map', '{"jsonrpc":"2.0","id":{},"method":"initialize"}', [null, -32600]],
    ['a method that is a number', '{"jsonrpc":"2.0","id":1,"method":7}', [null, -32600]],
    ['a method that is not there', ask('session/explode', {}), ['x', -32601]],
    ['a method named as a part of every object', ask('__proto__', {}), ['x', -32601]],
    ['a prompt without params', ask('session/prompt', undefined), ['x', -32602]],
    ['a prompt whose session is a number', ask('session/prompt', { sessionId: 1, prompt: [] }), ['x', -32602]],
    ['a block of no known type', ask('session/prompt', { sessionId: 's', prompt: [{ type: 'smell' }] }), ['x', -32602]],
    ['a folder that is a list', ask('session/new', { cwd: ['/'], mcpServers: [] }), ['x', -32602]],
    ['a folder with a NUL', ask('session/new', { cwd: '/tmp/\0', mcpServers: [] }), ['x', -32602]],
    [
      'a session named as a part of every object',
      ask('session/prompt', { sessionId: '__proto__', prompt: [{ type: 'text', text: 'a' }] }),
      ['x', -32002],
    ],
    [
      'a session outside the folder of logs',
      ask('session/load', { sessionId: '../../etc/passwd', cwd: '/', mcpServers: [] }),
      ['x', -32602],
    ],
    ['a cursor of another kind', ask('session/list', { cursor: '-1/x' }), ['x', -32602]],
  ])('%s', async (_what, line, error) => {
    expect(await sending([line], 1)).toEqual([error])
  })

  it.each([
    ['blank lines', ['', '  ', '\t']],
    ['a notification of nothing known', ['{"jsonrpc":"2.0","method":"session/explode"}']],
    ['a cancel without params', ['{"jsonrpc":"2.0","method":"session/cancel"}']],
    ['an answer to what was not asked', ['{"jsonrpc":"2.0","id":99,"result":{}}', '{"jsonrpc":"2.0","id":99,"error":{"code":"x"}}']],
    ['a cancel of a request that is not there', ['{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":99}}']],
  ])('%s: nothing is answered', async (_what, lines) => {
    expect(await sending(lines, 0)).toEqual([])
  })

  it('a message of 1 MB that nests 100,000 deep', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    expect(await sending([`{"jsonrpc":"2.0","id":"x","method":"session/prompt","params":{"sessionId":${deep},"prompt":[]}}`], 1)).toEqual([
      ['x', -32602],
    ])
  })

  it('a request before initialize', async () => {
    const { input, output, frames } = wireWithTap()
    output.resume()
    const wire = { name: 'wire', apply: (ctx: Context) => void ctx.provide('acpWire', { input, output }) }
    const harness = await createHarness({ plugins: [wire, [acp, { provider: 'scripted', model: 'm' }]] })
    onTestFinished(() => harness.dispose())
    input.write(`${ask('session/new', { cwd: '/', mcpServers: [] })}\n`)
    await until(() => frames.length === 1, 'the answer')
    expect(frames[0]).toMatchObject({ id: 'x', error: { code: -32600, message: expect.stringContaining('initialize') } })
  })
})

it('a message of more than 32 MiB ends the connection, says so, and leaves nothing', async () => {
  const { input, open, harness, connection } = await host()
  await open()
  input.write(`{"jsonrpc":"2.0","id":1,"method":"session/list","params":{"cursor":"${'x'.repeat(33 * 2 ** 20)}"}}\n`)
  await until(() => harness.ctx.agentLoop.list().length === 0, 'the agent is disposed')
  expect(harness.log.map(({ text }) => text)).toEqual([expect.stringContaining('exceeds the configured 33554432 byte limit')])
  connection.close()
})

it('no line of any JSON ends the connection', async () => {
  const { input, open, prompt, harness } = await host({ script: [{ text: 'Still here.', repeat: Infinity }] })
  const id = await open()
  const methods = ['initialize', 'session/new', 'session/load', 'session/list', 'session/prompt', 'session/cancel', '$/cancel_request']
  const message = fc.record(
    {
      jsonrpc: fc.constantFrom('2.0', '1.0', 2),
      id: fc.oneof(fc.integer(), fc.string(), fc.jsonValue()),
      method: fc.oneof(fc.constantFrom(...methods), fc.string(), fc.jsonValue()),
      params: fc.oneof(
        fc.jsonValue(),
        fc.record(
          { sessionId: fc.oneof(fc.constant(id), fc.jsonValue()), prompt: fc.jsonValue(), cwd: fc.jsonValue(), mcpServers: fc.jsonValue() },
          { requiredKeys: [] },
        ),
      ),
      result: fc.jsonValue(),
    },
    { requiredKeys: [] },
  )
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(message, fc.jsonValue()), { maxLength: 20 }), async (messages) => {
      for (const each of messages) input.write(`${JSON.stringify(each)}\n`)
      // A cancel may be among them.
      expect(['end_turn', 'cancelled']).toContain((await prompt(id, 'go')).stopReason)
    }),
    { numRuns: 30 },
  )
  expect(harness.log).toEqual([])
})
