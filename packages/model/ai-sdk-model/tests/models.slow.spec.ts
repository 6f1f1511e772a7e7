import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Context } from '@deepseek-ai/cordis'
import * as aiSdkModel from '@loopguard/ai-sdk-model'
import { LlmRuntime } from '@loopguard/llm'
import { says, startModelServer } from '@loopguard/testkit/model-server'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { hear, KEY, requestOf, stage, type Told } from './stage.ts'

/** A composition's folder, in which packages are installed that have these sources. */
async function folderWith(packages: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ai-sdk-model-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  for (const [name, source] of Object.entries(packages)) {
    const place = join(folder, 'node_modules', name)
    await mkdir(place, { recursive: true })
    await writeFile(join(place, 'package.json'), JSON.stringify({ name, type: 'module', exports: { import: './index.mjs' } }))
    await writeFile(join(place, 'index.mjs'), source)
  }
  return folder
}

/** A host whose composition stands in a folder. */
async function host(folder?: string): Promise<Context> {
  const ctx = new Context()
  onTestFinished(() => ctx.fiber.dispose())
  if (folder !== undefined) ctx.baseUrl = `${pathToFileURL(folder).href}/`
  await ctx.plugin(LlmRuntime)
  return ctx
}

const own = { provider: 'p', package: 'their-models', factory: 'createTheirs', baseURL: 'http://127.0.0.1:9/v1', apiKeyEnv: 'SERVED_KEY' }
/** A provider package that sends what it was made with. */
const sending = (version: string): string => `
export const createOther = 5
export function createTheirs(settings) {
  return (modelId) => ({
    specificationVersion: ${JSON.stringify(version)},
    async doStream({ abortSignal }) {
      const { fetch, ...rest } = settings
      await fetch(settings.baseURL + '/chat/completions', { method: 'POST', body: JSON.stringify({ modelId, settings: rest }), signal: abortSignal })
      const parts = [
        { type: 'text-start', id: '1' }, { type: 'text-delta', id: '1', delta: 'theirs' }, { type: 'text-end', id: '1' },
        { type: 'finish', finishReason: { unified: 'stop', raw: 'end' }, usage: { inputTokens: {}, outputTokens: {} } },
      ]
      return { stream: new ReadableStream({ start(c) { for (const part of parts) c.enqueue(part); c.close() } }) }
    },
  })
}`

describe('a package of the row’s own', () => {
  it.each(['v3', 'v4'])('is resolved from the folder of the composition, and speaks %s', async (version) => {
    await using server = await startModelServer([says({ text: 'x' })])
    vi.stubEnv('SERVED_KEY', KEY)
    onTestFinished(() => void vi.unstubAllEnvs())
    const ctx = await host(await folderWith({ 'their-models': sending(version) }))
    await ctx.plugin(aiSdkModel, { ...own, baseURL: server.baseURL, headers: { 'x-team': 'loop' } } as never)
    const { text, chunks } = await hear(ctx.llm.stream(requestOf({ provider: 'p', model: 'big' })))
    expect(text).toBe('theirs')
    expect(chunks.some(({ type }) => type === 'usage')).toBe(false)
    expect(server.requests[0]?.body).toMatchObject({
      modelId: 'big',
      settings: { baseURL: server.baseURL, apiKey: KEY, headers: { 'x-team': 'loop' } },
    })
  })

  it('that is not installed is refused at load, with the command that installs it', async () => {
    const ctx = await host(await folderWith({}))
    await expect(ctx.plugin(aiSdkModel, own as never)).rejects.toMatchObject({
      code: 'MODEL_PACKAGE_NOT_FOUND',
      message: 'ai-sdk-model: this row needs the package "their-models", which is not installed; run `npm install their-models`',
    })
    await expect(hear(ctx.llm.stream(requestOf({ provider: 'p' })))).resolves.toMatchObject({ finish: { failure: { code: 'NO_ADAPTER' } } })
  })

  it('without the factory is refused at load, and those that it has are named', async () => {
    const ctx = await host(await folderWith({ 'their-models': sending('v4') }))
    await expect(ctx.plugin(aiSdkModel, { ...own, factory: 'createMine' } as never)).rejects.toMatchObject({
      code: 'BAD_MODEL_PACKAGE',
      message: 'ai-sdk-model: the package "their-models" has no function `createMine`, got undefined; it has createOther, createTheirs',
    })
    await expect(ctx.plugin(aiSdkModel, { ...own, factory: 'createOther' } as never)).rejects.toThrow(
      'has no function `createOther`, got 5',
    )
  })

  it.each(['v2', 'v5'])('of the specification %s is refused at load, with what is known', async (version) => {
    const ctx = await host(await folderWith({ 'their-models': sending(version) }))
    await expect(ctx.plugin(aiSdkModel, own as never)).rejects.toMatchObject({
      code: 'BAD_MODEL_PACKAGE',
      message: `ai-sdk-model: the package "their-models" makes models of the specification "${version}"; known are "v3" and "v4"`,
    })
  })
})

describe('what a package tells of a block', () => {
  /** A package that answers with these parts, as source text. */
  const telling = (parts: string): string => `
export const createTheirs = () => () => ({
  specificationVersion: 'v4',
  async doStream() {
    const cycle = {}
    cycle.itself = cycle
    const end = { type: 'finish', finishReason: { unified: 'stop', raw: 'end' }, usage: { inputTokens: {}, outputTokens: {} } }
    return { stream: new ReadableStream({ start(c) { for (const part of [${parts}, end]) c.enqueue(part); c.close() } }) }
  },
})`
  const told = async (parts: string): Promise<Told> => {
    vi.stubEnv('SERVED_KEY', KEY)
    onTestFinished(() => void vi.unstubAllEnvs())
    const ctx = await host(await folderWith({ 'their-models': telling(parts) }))
    await ctx.plugin(aiSdkModel, own as never)
    return hear(ctx.llm.stream(requestOf({ provider: 'p' })))
  }

  it('comes as JSON, part by part, the later part first; what says nothing is no data', async () => {
    const { content } = await told(`
      { type: 'text-start', id: '1', providerMetadata: { a: { x: 1, y: undefined } } },
      { type: 'text-delta', id: '1', delta: 'hi', providerMetadata: { a: { x: 2 }, b: { z: [null] } } },
      { type: 'text-end', id: '1' },
      { type: 'text-start', id: '1' }, { type: 'text-delta', id: '1', delta: 'ho' }, { type: 'text-end', id: '1', providerMetadata: { a: { y: undefined }, b: {} } },
      { type: 'tool-call', toolCallId: 'c', toolName: 'look', input: '{}', providerMetadata: { a: { s: 'sig' } } }`)
    expect(content).toEqual([
      { type: 'text', text: 'hi', providerData: { a: { x: 2 }, b: { z: [null] } } },
      { type: 'text', text: 'ho' },
      { type: 'tool-call', id: 'c', name: 'look', arguments: '{}', providerData: { a: { s: 'sig' } } },
    ])
  })

  it('is kept when its block is empty', async () => {
    const { content, finish } = await told(
      `{ type: 'text-start', id: '1' }, { type: 'text-end', id: '1', providerMetadata: { a: { s: 'sig' } } }`,
    )
    expect(content).toEqual([{ type: 'text', text: '', providerData: { a: { s: 'sig' } } }])
    expect(finish.kind).toBe('stop')
  })

  it.each(['{ a: cycle }', '{ a: { big: 1n } }'])('is MALFORMED_RESPONSE when it is no JSON: %s', async (metadata) => {
    const { failure } = await told(`{ type: 'text-start', id: '1' }, { type: 'text-end', id: '1', providerMetadata: ${metadata} }`)
    expect(failure).toMatchObject({ code: 'MALFORMED_RESPONSE', retryable: false })
    expect(failure.message).toContain('provider "p" sent data that is no JSON with a text')
  })

  it('is MALFORMED_RESPONSE when the block was not begun', async () => {
    const { failure } = await told(`{ type: 'text-delta', id: '7', delta: 'hi' }`)
    expect(failure).toEqual({
      code: 'MALFORMED_RESPONSE',
      message: 'provider "p" told of a text that it had not begun: 7',
      retryable: false,
    })
  })

  it('ends as STREAM_CLOSED when a block is open at a stop', async () => {
    expect((await told(`{ type: 'text-start', id: '1' }, { type: 'text-delta', id: '1', delta: 'hi' }`)).failure.code).toBe('STREAM_CLOSED')
  })

  it('that is no part of a conversation is left out', async () => {
    const { chunks } =
      await told(`{ type: 'stream-start', warnings: [] }, { type: 'source', id: 's', url: 'x' }, { type: 'ping' }, { type: 'raw', rawValue: 1 },
      { type: 'text-start', id: '1' }, { type: 'text-delta', id: '1', delta: 'hi' }, { type: 'text-end', id: '1' }`)
    expect(chunks.map(({ type }) => type)).toEqual(['block-start', 'text-delta', 'block-end', 'finish'])
  })
})

describe('a known kind', () => {
  it.each(['openai-compatible', 'openai', 'openai-chat', 'anthropic', 'deepseek', 'google'] as const)('%s answers', async (kind) => {
    const { ask, server } = await stage({ kind, entries: [says({ text: 'hello', calls: [{ name: 'look', arguments: { at: 'sea' } }] })] })
    expect((await ask()).content).toMatchObject([
      { type: 'text', text: 'hello' },
      { type: 'tool-call', name: 'look', arguments: '{"at":"sea"}' },
    ])
    const { path = '', headers = {} } = server.requests[0] ?? {}
    expect(path).toMatch(/^\/v1\//)
    expect(JSON.stringify(headers)).toContain(KEY)
  })

  it('is gone when its row is unloaded', async () => {
    const ctx = await host()
    const fiber = await ctx.plugin(aiSdkModel, { provider: 'p', kind: 'anthropic' } as never)
    expect(fiber.getEffects().map(({ label }) => label)).toEqual(
      expect.arrayContaining(['ctx.llm.registerAdapter("p")', 'ai-sdk-model: connections of "p"']),
    )
    await fiber.dispose()
    expect((await hear(ctx.llm.stream(requestOf({ provider: 'p' })))).failure.code).toBe('NO_ADAPTER')
  })
})

describe('the key', () => {
  it.each([
    [undefined, 'is not set, or empty'],
    ['', 'is not set, or empty'],
    ['  \n', 'is not set, or empty'],
    ['two words', 'holds characters that no key has'],
    ['schlüssel', 'holds characters that no key has'],
  ])('%j is MISSING_CREDENTIAL with the request, not at load', async (value, what) => {
    const { ask, server } = await stage({ kind: 'anthropic', entries: [says({ text: 'ok' })] })
    vi.stubEnv('SERVED_KEY', value)
    expect((await ask()).failure).toEqual({
      code: 'MISSING_CREDENTIAL',
      message: `provider "served" needs a key, and the environment variable SERVED_KEY ${what}`,
      retryable: false,
    })
    expect(server.requests).toEqual([])
    vi.stubEnv('SERVED_KEY', ` ${KEY}\n`)
    expect((await ask()).text).toBe('ok')
    expect(server.requests[0]?.headers['x-api-key']).toBe(KEY)
  })

  it.each([
    ['anthropic', 'ANTHROPIC_API_KEY'],
    ['openai', 'OPENAI_API_KEY'],
    ['openai-chat', 'OPENAI_API_KEY'],
    ['deepseek', 'DEEPSEEK_API_KEY'],
    ['google', 'GOOGLE_GENERATIVE_AI_API_KEY'],
  ] as const)('of %s stands in %s, unless the row says otherwise', async (kind, variable) => {
    const { ask } = await stage({ kind, config: { apiKeyEnv: undefined as never }, entries: [says({ text: 'ok' })] })
    vi.stubEnv(variable, '')
    expect((await ask()).failure.message).toContain(`the environment variable ${variable} is not set`)
    vi.stubEnv(variable, KEY)
    expect((await ask()).text).toBe('ok')
  })

  it('is sent to a compatible server only if the row names a variable', async () => {
    const { ask, server } = await stage({ config: { apiKeyEnv: undefined as never }, entries: [says({ text: 'ok' })] })
    expect((await ask()).text).toBe('ok')
    expect(server.requests[0]?.headers.authorization).toBeUndefined()
  })
})
