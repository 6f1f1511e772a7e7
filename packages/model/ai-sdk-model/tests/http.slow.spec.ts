import { answers, says, startModelServer } from '@loopguard/testkit/model-server'
import { describe, expect, it } from 'vitest'
import { BOTH, KEY, stage } from './stage.ts'

const json = (message: string, type = 'some_error'): object => ({ type: 'error', error: { type, message } })

describe.each(BOTH)('%s: an HTTP error', (kind) => {
  it.each<[number, string | object, string, boolean]>([
    [408, 'too slow', 'TIMEOUT', true],
    [402, 'pay', 'QUOTA_EXCEEDED', false],
    [429, json('You exceeded your current quota', 'insufficient_quota'), 'QUOTA_EXCEEDED', false],
    [400, json('Your credit balance is too low'), 'QUOTA_EXCEEDED', false],
    [403, json('check your billing details'), 'QUOTA_EXCEEDED', false],
    [401, json('Incorrect API key'), 'AUTH', false],
    [403, json('not for you'), 'AUTH', false],
    [429, json('slow down', 'rate_limit_error'), 'RATE_LIMIT', true],
    [400, json('prompt is too long: 200001 tokens > 200000 maximum'), 'CONTEXT_WINDOW_EXCEEDED', false],
    [400, json("This model's maximum context length is 8192 tokens"), 'CONTEXT_WINDOW_EXCEEDED', false],
    [413, json('context_length_exceeded'), 'CONTEXT_WINDOW_EXCEEDED', false],
    [400, json('no such field'), 'INVALID_REQUEST', false],
    [404, json('no such model'), 'INVALID_REQUEST', false],
    [413, 'Request Entity Too Large', 'INVALID_REQUEST', false],
    [422, { detail: [{ msg: 'field required' }] }, 'INVALID_REQUEST', false],
    [500, json('oops', 'api_error'), 'SERVER', true],
    [503, '<html>no</html>', 'SERVER', true],
    [529, json('Overloaded', 'overloaded_error'), 'SERVER', true],
    [500, json('quota service is down'), 'SERVER', true],
    [409, 'conflict', 'HTTP_409', false],
    [418, '', 'HTTP_418', false],
  ])('%i %j is %s (may be tried again: %s)', async (status, body, code, retryable) => {
    const { ask, server } = await stage({ kind, entries: [answers(status, body)] })
    expect((await ask()).failure).toMatchObject({ code, status, retryable })
    expect(server.requests).toHaveLength(1)
  })

  it('is told in the words of the provider, with its request id and the wait that it asks for', async () => {
    const { ask } = await stage({
      kind,
      entries: [
        answers(429, json('slow down'), { 'retry-after': '2', 'x-request-id': 'req-1' }),
        answers(500, 'gone', { 'request-id': 'req-2', 'retry-after-ms': '150' }),
      ],
    })
    expect((await ask()).failure).toEqual({
      code: 'RATE_LIMIT',
      message: 'provider "served" answered 429: slow down',
      status: 429,
      retryable: true,
      retryAfterMs: 2000,
      requestId: 'req-1',
    })
    expect((await ask()).failure).toMatchObject({ message: 'provider "served" answered 500: gone', requestId: 'req-2', retryAfterMs: 150 })
  })

  it('without words is told by its status', async () => {
    const { ask } = await stage({ kind, entries: [answers(503)] })
    expect((await ask()).failure.message).toBe('provider "served" answered 503')
  })

  it.each([200, 500])('is read up to 64 KiB, and shown up to 500 characters (status %i)', async (status) => {
    const endless = Array.from({ length: 64 }, () => 'x'.repeat(16_384))
    const { ask, server } = await stage({ kind, entries: [{ ...answers(status), body: () => endless, end: 'open' }] })
    const { failure } = await ask()
    expect(failure.message.length).toBeLessThan(650)
    expect(failure.message).toMatch(/x{500}…$/)
    // The body has no end, so that the failure came before it.
    expect(await server.requests[0]?.closed).toBe(false)
    await expect.poll(() => server.connections()).toBe(0)
  })

  it('is never cut through a character', async () => {
    const { ask } = await stage({ kind, entries: [answers(500, '😀'.repeat(600))] })
    expect((await ask()).failure.message).toBe(`provider "served" answered 500: ${'😀'.repeat(500)}…`)
  })
})

describe.each(BOTH)('%s: a redirect', (kind) => {
  it.each([301, 302, 303, 307, 308])('%i is not followed, and the place is named', async (status) => {
    await using stranger = await startModelServer([says({ text: 'give me the key' })])
    const { ask } = await stage({ kind, entries: [answers(status, '', { location: `${stranger.baseURL}/messages` })] })
    expect((await ask()).failure).toEqual({
      code: `HTTP_${status}`,
      message: `provider "served" answered ${status}, and a redirect is not followed: ${stranger.baseURL}/messages`,
      retryable: false,
    })
    expect(stranger.requests).toEqual([])
  })
})

describe.each(BOTH)('%s: a 200 that is no stream of events', (kind) => {
  it.each([
    ['text/html', '<html>Sign in to the hotel</html>'],
    ['application/json', '{"choices":[{"message":{"content":"whole"}}]}'],
    ['text/plain', 'data: {}\n\n'],
  ])('of type %s is MALFORMED_RESPONSE, and is not tried again', async (type, body) => {
    const { ask } = await stage({ kind, entries: [answers(200, body, { 'content-type': type })] })
    expect((await ask()).failure).toEqual({
      code: 'MALFORMED_RESPONSE',
      message: `provider "served" answered with ${type} and not with a stream of events: ${body.trim()}`,
      retryable: false,
    })
  })

  it('but holds an error fails like one', async () => {
    const { ask } = await stage({ kind, entries: [answers(200, { error: { message: 'slow down', type: 'rate_limit' } })] })
    expect((await ask()).failure).toMatchObject({ code: 'RATE_LIMIT', message: 'provider "served" sent an error: slow down' })
  })
})

describe.each(BOTH)('%s: the request', (kind) => {
  it('goes to the base URL and the path of its API, with the key where it belongs and the headers of the row', async () => {
    const { ask, server } = await stage({
      kind,
      entries: [says({ text: 'ok' })],
      config: { headers: { 'X-Team': 'loop', 'x-trace': 'on' } },
    })
    await ask({
      maxTokens: 77,
      system: 'Be short.',
      tools: [{ name: 'look', description: 'Looks.', parameters: { type: 'object', properties: {} } }],
    })
    const { path, headers, body } = await server.request(0)
    expect(path).toBe(kind === 'anthropic' ? '/v1/messages' : '/v1/chat/completions')
    expect(kind === 'anthropic' ? headers['x-api-key'] : headers.authorization).toBe(kind === 'anthropic' ? KEY : `Bearer ${KEY}`)
    expect(headers).toMatchObject({ 'x-team': 'loop', 'x-trace': 'on', 'accept-encoding': 'identity' })
    expect(body).toMatchObject({ model: 'any', stream: true, max_tokens: 77 })
    expect(JSON.stringify(body)).toContain('Be short.')
    expect((body as { tools: unknown[] }).tools).toMatchObject([
      kind === 'anthropic' ? { name: 'look' } : { type: 'function', function: { name: 'look' } },
    ])
  })

  it('carries the options of the row', async () => {
    const providerOptions = { served: { top_k: 7 }, anthropic: { metadata: { userId: 'u' } } }
    const { ask, server } = await stage({ kind, entries: [says({ text: 'ok' })], config: { providerOptions } })
    await ask()
    expect(server.requests[0]?.body).toMatchObject(kind === 'anthropic' ? { metadata: { user_id: 'u' } } : { top_k: 7 })
  })
})
