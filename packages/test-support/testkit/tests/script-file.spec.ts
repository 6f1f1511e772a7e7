import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Context } from '@deepseek-ai/cordis'
import LlmRuntime, { SessionId, type StreamChunk } from '@loopguard/llm'
import { readScript } from '@loopguard/testkit'
import * as plugin from '@loopguard/testkit/scripted-model'
import { afterAll, describe, expect, it } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'loopguard-script-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function file(text: string): string {
  const path = join(folder, 'script.yml')
  writeFileSync(path, text)
  return path
}

/** What reading the script complains about, without the name of the folder. */
function faultOf(text: string): string {
  try {
    readScript(file(text))
    return 'no fault'
  } catch (error) {
    const { code, message } = error as Error & { code: string }
    return `${code} ${message.replace(`${folder}/`, '')}`
  }
}

describe('a script file', () => {
  it('holds answers, lists of chunks and `hang`', () => {
    const text = `
- text: hello
  calls: [{ name: look, arguments: { at: [1, null] }, id: mine }, { name: wait }]
  finish: max-tokens
  repeat: 2
  usage: { inputTokens: 9, outputTokens: 2, cacheReadTokens: 8, cacheWriteTokens: 0, reasoningTokens: 1 }
- finish: { kind: error, failure: { message: no, code: X, status: 500, retryAfterMs: 10, requestId: r, retryable: true } }
- hang
- - { type: block-start, index: 0, blockType: text }
  - { type: text-delta, index: 0, text: a }
  - { type: block-end, index: 0, block: { type: text, text: a } }
  - { type: block-start, index: 1, blockType: tool-call }
  - { type: tool-call-delta, index: 1, id: c, argumentsDelta: '{}' }
  - { type: block-end, index: 1, block: { type: tool-call, id: c, name: look, arguments: '{}' } }
  - { type: usage, usage: { inputTokens: 0, outputTokens: 0 } }
  - { type: finish, reason: { kind: stop } }
`
    expect(readScript(file(text))).toEqual([
      {
        text: 'hello',
        calls: [
          { name: 'look', arguments: { at: [1, null] }, id: 'mine' },
          { name: 'wait', arguments: {} },
        ],
        finish: 'max-tokens',
        repeat: 2,
        usage: { inputTokens: 9, outputTokens: 2, cacheReadTokens: 8, cacheWriteTokens: 0, reasoningTokens: 1 },
      },
      {
        finish: {
          kind: 'error',
          failure: { message: 'no', code: 'X', status: 500, retryAfterMs: 10, requestId: 'r', retryable: true },
        },
      },
      'hang',
      [
        { type: 'block-start', index: 0, blockType: 'text' },
        { type: 'text-delta', index: 0, text: 'a' },
        { type: 'block-end', index: 0, block: { type: 'text', text: 'a' } },
        { type: 'block-start', index: 1, blockType: 'tool-call' },
        { type: 'tool-call-delta', index: 1, id: 'c', argumentsDelta: '{}' },
        { type: 'block-end', index: 1, block: { type: 'tool-call', id: 'c', name: 'look', arguments: '{}' } },
        { type: 'usage', usage: { inputTokens: 0, outputTokens: 0 } },
        { type: 'finish', reason: { kind: 'stop' } },
      ],
    ])
  })

  it('may begin with a byte order mark', () => {
    expect(readScript(file('\ufeff- text: hello\n'))).toEqual([{ text: 'hello' }])
  })

  it('may use anchors, and keeps arguments that are text as they are', () => {
    const text = `- calls: [&look { name: look, arguments: '{"a":' }]\n- calls: [*look, *look]\n`
    expect(readScript(file(text))[1]).toEqual({
      calls: [
        { name: 'look', arguments: '{"a":' },
        { name: 'look', arguments: '{"a":' },
      ],
    })
  })
})

describe('a malformed script', () => {
  it.each([
    ['', 'script.yml:1:1: expected a list of entries, got nothing'],
    ['text: hello\n', 'script.yml:1:1: expected a list of entries, got a map'],
    ['- 7\n', 'script.yml:1:3: expected an answer (`text`, `calls`, …), a list of chunks, or `hang`, got 7'],
    ['- hello\n', 'script.yml:1:3: expected an answer (`text`, `calls`, …), a list of chunks, or `hang`, got "hello"'],
    ['-\n', 'script.yml:1:2: expected an answer (`text`, `calls`, …), a list of chunks, or `hang`, got null'],
    ['- text: hi\n- txet: hi\n', 'script.yml:2:3: unknown key `txet`, did you mean `text`?'],
    ['- text: [hi]\n', 'script.yml:1:9: expected `text` to be text, got a list'],
    ['- text:\n', 'script.yml:1:8: expected `text` to be text, got null'],
    ['- calls: { name: a }\n', 'script.yml:1:10: expected `calls` to be a list of calls, got a map'],
    ['- calls: [look]\n', 'script.yml:1:11: expected a call (`name`, `arguments`, `id`), got "look"'],
    ['- calls:\n    - arguments: {}\n', 'script.yml:2:7: expected a call with a `name`, got a map'],
    ["- calls: [{ name: ' ' }]\n", 'script.yml:1:19: expected `name` to be the name of a tool, got " "'],
    [
      '- calls: [{ name: a, arguments: .nan }]\n',
      'script.yml:1:33: expected a value that JSON can hold (arguments is NaN: a number must be finite), got NaN',
    ],
    [
      '- calls: [{ name: a, arguments: &x { y: *x } }]\n',
      'script.yml:1:36: expected a value that JSON can hold (arguments.y is a cycle: it holds itself), got a map',
    ],
    ['- finish: stopped\n', 'script.yml:1:11: expected `stop` or `tool-calls` or `max-tokens`, got "stopped"'],
    ['- finish: { kind: error }\n', 'script.yml:1:11: expected a `failure`, got a map'],
    ['- finish: { kind: error, failure: { code: X } }\n', 'script.yml:1:35: expected a failure with `message`, got a map'],
    ['- repeat: 0\n', 'script.yml:1:11: expected `repeat` to be an integer >= 1, got 0'],
    ['- repeat: 1.5\n', 'script.yml:1:11: expected `repeat` to be an integer >= 1, got 1.5'],
    ['- usage: { inputTokens: 1 }\n', 'script.yml:1:10: expected `outputTokens`, got a map'],
    ['- usage: { inputTokens: 1, outputTokens: -1 }\n', 'script.yml:1:42: expected `outputTokens` to be an integer >= 0, got -1'],
    [
      '- finish: { kind: error, failure: { message: no, code: X, retryable: yes } }\n',
      'script.yml:1:70: expected `retryable` to be true or false, got "yes"',
    ],
    ['- [{ type: text }]\n', 'script.yml:1:12: expected `block-start` or `text-delta` or '],
    ['- [{ type: text-delta, text: a }]\n', 'script.yml:1:4: expected a chunk with `index`, got a map'],
    ['- [{ type: block-end, index: 0, block: { type: text } }]\n', 'script.yml:1:40: expected a block with `text`, got a map'],
    ['- [{ type: finish, reason: { kind: stop, why: x } }]\n', 'script.yml:1:42: unknown key `why`'],
    ["- text: 'open\n", "script.yml:2:1: Missing closing 'quote"],
    [
      '- *nobody\n',
      'script.yml:1:3: expected an answer (`text`, `calls`, …), a list of chunks, or `hang`, got `*nobody`, which nothing is named',
    ],
    ['- text: a\n  text: b\n', 'script.yml:2:3: Map keys must be unique'],
  ])('is refused with the place, what was expected and what is there: %j', (text, expected) => {
    expect(faultOf(text)).toContain(`BAD_SCRIPT ${expected}`)
  })

  it('may also be a file that cannot be read', () => {
    expect(() => readScript(join(folder, 'none.yml'))).toThrow(`${folder}/none.yml: cannot be read: ENOENT`)
  })
})

describe('the plugin', () => {
  async function load(config: object): Promise<Context> {
    const ctx = new Context()
    ctx.baseUrl = `${pathToFileURL(folder).href}/`
    await ctx.plugin(LlmRuntime)
    await ctx.plugin(plugin, config as plugin.Config)
    return ctx
  }

  it('serves its provider with the script, whose path is relative to the composition', async () => {
    file('- text: hello\n')
    const ctx = await load({ script: 'script.yml', provider: 'mine' })
    const chunks: StreamChunk[] = []
    const signal = new AbortController().signal
    for await (const chunk of ctx.llm.stream({ provider: 'mine', model: 'm', messages: [], signal, sessionId: SessionId('s') }))
      chunks.push(chunk)
    expect(chunks[1]).toMatchObject({ text: 'hello' })
    await ctx.fiber.dispose()
  })

  it.each([
    [{}, 'missing required value'],
    [{ scirpt: 'x' }, 'scripted-model: unknown key `scirpt`, did you mean `script`?'],
    [{ script: null }, 'scripted-model: `script` is null'],
    [{ script: 7 }, 'expected string but got 7'],
    [{ script: ' ' }, 'scripted-model: `script` must be the path of a file, got " "'],
    [{ script: 'none.yml' }, 'none.yml: cannot be read'],
    [{ script: 'script.yml', provider: '' }, 'a provider name must be non-blank text'],
  ])('refuses %j', async (config, expected) => {
    await expect(load(config)).rejects.toThrow(expected)
  })
})
