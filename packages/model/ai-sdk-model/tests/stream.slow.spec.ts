import { framesOf, says, startModelServer, streams } from '@loopguard/testkit/model-server'
import { gate } from '@loopguard/testkit'
import { describe, expect, it } from 'vitest'
import { BOTH, errorEvent, stage, textEvent, unknownEvent } from './stage.ts'

const RETRYABLE = { retryable: true }

describe.each(BOTH)('%s: a whole answer', (kind) => {
  it.each([false, true])('comes as blocks, with the total of the usage and its parts (byte by byte: %s)', async (bytewise) => {
    const usage = { input: 50, output: 7, cacheRead: 20, ...(kind === 'openai-compatible' && { reasoning: 3 }) }
    const reply = {
      reasoning: 'hm, größer?',
      text: 'I will look around.',
      calls: [{ name: 'look', arguments: { at: 'sea', n: 1 } }],
      usage,
    }
    const { ask } = await stage({ kind, entries: [says({ ...reply, ...(kind === 'anthropic' && { seal: 'sig' }) }, { bytewise })] })
    const { content, finish, chunks } = await ask()
    expect(content).toMatchObject([
      { type: 'reasoning', text: 'hm, größer?' },
      { type: 'text', text: 'I will look around.' },
      { type: 'tool-call', id: 'call_1', name: 'look', arguments: '{"at":"sea","n":1}' },
    ])
    expect(finish).toEqual({ kind: 'tool-calls' })
    expect(chunks.filter(({ type }) => type === 'usage')).toEqual([
      {
        type: 'usage',
        usage: { inputTokens: 50, outputTokens: 7, cacheReadTokens: 20, ...(kind === 'openai-compatible' && { reasoningTokens: 3 }) },
      },
    ])
  })

  it('comes while it is made', async () => {
    const more = gate()
    const { stream } = await stage({
      kind,
      entries: [
        streams((dialect) => {
          const frames = framesOf(dialect, { text: 'one two three' })
          const cut = kind === 'anthropic' ? 3 : 1
          return [...frames.slice(0, cut), more.opened, ...frames.slice(cut)]
        }),
      ],
    })
    let heard = ''
    for await (const chunk of stream()) {
      if (chunk.type !== 'text-delta') continue
      heard += chunk.text
      more.open()
    }
    expect(heard).toBe('one two three')
  })

  it('that was cut at the limit of tokens says so', async () => {
    const { ask } = await stage({ kind, entries: [says({ text: 'one two', finish: 'length' })] })
    expect((await ask()).finish).toEqual({ kind: 'max-tokens' })
  })

  it('of which the limit left nothing says so too', async () => {
    const { ask } = await stage({ kind, entries: [says({ finish: 'length' })] })
    expect((await ask()).finish).toEqual({ kind: 'max-tokens' })
  })

  it('with calls without arguments has an empty object for them', async () => {
    const { ask } = await stage({ kind, entries: [says({ calls: [{ name: 'look', arguments: '' }] })] })
    expect((await ask()).content).toMatchObject([{ name: 'look', arguments: '{}' }])
  })

  it('with malformed arguments keeps the raw text', async () => {
    const { ask } = await stage({ kind, entries: [says({ calls: [{ name: 'look', arguments: '{"at": sea' }] })] })
    expect((await ask()).content).toMatchObject([{ name: 'look', arguments: '{"at": sea' }])
  })

  it('with two calls keeps them apart', async () => {
    const calls = [
      { name: 'look', arguments: { at: 'sea' } },
      { name: 'wait', arguments: { ms: 5 } },
    ]
    const { ask } = await stage({ kind, entries: [says({ calls })] })
    expect((await ask()).content).toMatchObject([
      { id: 'call_1', name: 'look', arguments: '{"at":"sea"}' },
      { id: 'call_2', name: 'wait', arguments: '{"ms":5}' },
    ])
  })

  it('that ends cleanly behind its reason needs no last event', async () => {
    const { ask } = await stage({
      kind,
      entries: [
        streams((dialect) => framesOf(dialect, { text: 'done' }).slice(0, -1)),
        streams((dialect) => [...framesOf(dialect, { text: 'done' }).slice(0, -1), 'data: {"tor']),
      ],
    })
    for (let n = 0; n < 2; n++) expect(await ask()).toMatchObject({ text: 'done', finish: { kind: 'stop' } })
  })
})

describe.each(BOTH)('%s: an end that is none', (kind) => {
  const reply = { text: 'one two three four', calls: [{ name: 'look', arguments: { at: 'sea' } }] }
  it.each([
    ['half an answer', says(reply, { cutAfter: 4 })],
    ['half a call', streams((dialect) => framesOf(dialect, reply).slice(0, dialect === 'messages' ? 8 : 5))],
    ['everything but a reason', says({ ...reply, finish: 'none' })],
    ['a reason that is literally interrupted', says({ text: 'one two', finish: { raw: 'interrupted' } })],
    ['no event', streams([])],
    ['nothing but comments', streams([': ping\n\n', ': ping\n\n'])],
    [
      'half an event',
      streams((dialect) => [
        framesOf(dialect, reply)
          .join('')
          .split(/tool_use"|tool_calls"\}/)
          .slice(0, -1)
          .join('tool_use"'),
      ]),
    ],
  ])('%s is STREAM_CLOSED, and may be tried again', async (_what, entry) => {
    const { ask } = await stage({ kind, entries: [entry] })
    expect((await ask()).failure).toMatchObject({ code: 'STREAM_CLOSED', ...RETRYABLE })
  })

  it('nothing but [DONE] is STREAM_CLOSED', async () => {
    const { ask } = await stage({ kind, entries: [streams(['data: [DONE]\n\n'])] })
    expect((await ask()).failure.code).toBe('STREAM_CLOSED')
  })

  it.each([0, 1, 4])('a connection that breaks after %i events is TRANSPORT, and may be tried again', async (cutAfter) => {
    const { ask, server } = await stage({ kind, entries: [says(reply, { cutAfter, end: 'break' })] })
    expect((await ask()).failure).toMatchObject({ code: 'TRANSPORT', ...RETRYABLE })
    expect(server.requests).toHaveLength(1)
  })

  it('a connection that breaks behind the reason, and before the end, is TRANSPORT', async () => {
    const { ask } = await stage({
      kind,
      entries: [streams((dialect) => framesOf(dialect, { text: 'done' }).slice(0, -1), { end: 'break' })],
    })
    expect((await ask()).failure.code).toBe('TRANSPORT')
  })

  it('a connection that breaks before any answer is TRANSPORT', async () => {
    const { ask, server } = await stage({ kind, entries: ['hang'] })
    const told = ask()
    await server.request(0)
    await server.close()
    expect((await told).failure).toMatchObject({ code: 'TRANSPORT', ...RETRYABLE })
  })

  it('a connection that cannot be made is TRANSPORT, and says where it failed', async () => {
    const gone = await startModelServer()
    await gone.close()
    const { ask } = await stage({ kind, config: { baseURL: gone.baseURL } })
    const { failure } = await ask()
    expect(failure).toMatchObject({ code: 'TRANSPORT', ...RETRYABLE })
    expect(failure.message).toMatch(/^provider "served" could not be reached, or its connection broke: ECONNREFUSED/)
  })

  it('a stop without any block is EMPTY_RESPONSE', async () => {
    const { ask } = await stage({
      kind,
      entries: [says({}), says({ text: '' }), streams((dialect) => framesOf(dialect, { finish: 'tool-calls' }))],
    })
    for (let n = 0; n < 3; n++) expect((await ask()).failure).toMatchObject({ code: 'EMPTY_RESPONSE', ...RETRYABLE })
  })

  it('a refusal is CONTENT_FILTER, and is not tried again', async () => {
    const { ask } = await stage({ kind, entries: [says({ text: 'I ', finish: 'filter' })] })
    expect((await ask()).failure).toMatchObject({ code: 'CONTENT_FILTER', retryable: false })
  })

  it('an unknown reason is BAD_FINISH and is shown; one that tells of load is SERVER', async () => {
    const raws = ['on_strike', 'insufficient_system_resource']
    const { ask } = await stage({ kind, entries: raws.map((raw) => says({ text: 'one', finish: { raw } })) })
    expect((await ask()).failure).toEqual({
      code: 'BAD_FINISH',
      message: 'provider "served" stopped for a reason that is not known: on_strike',
      retryable: false,
    })
    expect((await ask()).failure).toMatchObject({ code: 'SERVER', ...RETRYABLE })
  })
})

describe.each(BOTH)('%s: an event that is no part of an answer', (kind) => {
  const frames = (dialect: 'chat' | 'messages'): string[] => framesOf(dialect, { text: 'one two' })
  const places = ['first', 'in the middle', 'behind the reason', 'everywhere'] as const

  it.each(places)('is skipped when its kind is not known: %s', async (place) => {
    const { ask } = await stage({
      kind,
      entries: [
        streams((dialect) => {
          const all = frames(dialect as 'chat')
          const at = { first: 0, 'in the middle': 2, 'behind the reason': all.length - 1, everywhere: -1 }[place]
          return all.flatMap((event, index) => (index === at || at < 0 ? [unknownEvent, event] : [event]))
        }),
      ],
    })
    expect(await ask()).toMatchObject({ text: 'one two', finish: { kind: 'stop' } })
  })

  // The parser of the packages takes a carriage return for half a line end, so that a last event which ends with one alone is none.
  it.each(kind === 'anthropic' ? ['\n', '\r\n'] : ['\n', '\r', '\r\n'])('is skipped whatever ends its lines: %j', async (end) => {
    const { ask } = await stage({
      kind,
      entries: [
        streams((dialect) => [unknownEvent, ...frames(dialect as 'chat')].map((event) => event.replaceAll('\n', end)), { bytewise: true }),
      ],
    })
    expect(await ask()).toMatchObject({ text: 'one two', finish: { kind: 'stop' } })
  })

  it.each([0, 4])('is an error that fails the request, after %i events', async (at) => {
    const { ask } = await stage({
      kind,
      entries: [
        streams((dialect) => [...frames(dialect as 'chat').slice(0, at), errorEvent(kind, 'we are overloaded', 'overloaded_error')]),
      ],
    })
    expect((await ask()).failure).toEqual({
      code: 'SERVER',
      message: 'provider "served" sent an error: we are overloaded',
      retryable: true,
    })
  })

  it.each([
    ['text', '{"error":"the server is on fire"}'],
    ['an object that holds text', '{"error":{"error":"the server is on fire"}}'],
    ['a detail', '{"type":"error","detail":"the server is on fire"}'],
    ['of no known shape', '{"error":{"why":"the server is on fire"}}'],
  ])('is an error that is %s', async (_shape, data) => {
    for (const at of [0, 4]) {
      const { ask } = await stage({
        kind,
        entries: [streams((dialect) => [...frames(dialect as 'chat').slice(0, at), `data: ${data}\n\n`])],
      })
      const { failure } = await ask()
      expect(failure).toMatchObject({ code: 'SERVER', ...RETRYABLE })
      expect(failure.message).toContain('the server is on fire')
    }
  })

  it.each([
    ['rate_limit_error', 'slow down', 'RATE_LIMIT', true],
    ['insufficient_quota', 'pay first', 'QUOTA_EXCEEDED', false],
    ['invalid_request_error', 'prompt is too long: 9 tokens', 'CONTEXT_WINDOW_EXCEEDED', false],
    ['invalid_request_error', 'no such field', 'INVALID_REQUEST', false],
    ['authentication_error', 'who are you', 'AUTH', false],
    ['permission_error', 'not for you', 'AUTH', false],
    ['api_error', 'oops', 'SERVER', true],
  ])('fails like HTTP does: %s, "%s" is %s', async (type, message, code, retryable) => {
    const { ask } = await stage({
      kind,
      entries: [streams((dialect) => [...frames(dialect as 'chat').slice(0, 2), errorEvent(kind, message, type)])],
    })
    expect((await ask()).failure).toEqual({ code, retryable, message: `provider "served" sent an error: ${message}` })
  })

  it('keeps the status that an error names by number', async () => {
    const { ask } = await stage({ kind, entries: [streams(['data: {"error":{"code":429,"message":"slow"}}\n\n'])] })
    expect((await ask()).failure).toMatchObject({ code: 'RATE_LIMIT', status: 429 })
  })

  it('that is broken JSON is MALFORMED_RESPONSE, and may be tried again', async () => {
    const { ask } = await stage({
      kind,
      entries: [streams((dialect) => [...frames(dialect as 'chat').slice(0, 3), 'data: {"choices": [}\n\n'])],
    })
    expect((await ask()).failure).toMatchObject({ code: 'MALFORMED_RESPONSE', ...RETRYABLE })
  })

  it('that has a shape that is not known is MALFORMED_RESPONSE, and is not tried again', async () => {
    const odd = { type: 'content_block_delta', index: 'one', delta: 5, choices: 'none' }
    const { ask } = await stage({
      kind,
      entries: [streams((dialect) => [...frames(dialect as 'chat').slice(0, 3), `data: ${JSON.stringify(odd)}\n\n`])],
    })
    expect((await ask()).failure).toMatchObject({ code: 'MALFORMED_RESPONSE', retryable: false })
  })

  it('and the words "error" of a model are no error', async () => {
    const words = '{"error": "x"} "type":"error" "error"'
    const { ask } = await stage({
      kind,
      entries: [
        says({ text: words }),
        streams((dialect) => [
          ...framesOf(dialect, { text: 'x' }).slice(0, dialect === 'messages' ? 3 : 1),
          textEvent(kind, words),
          ...framesOf(dialect, { text: 'x' }).slice(dialect === 'messages' ? 3 : 1),
        ]),
      ],
    })
    expect((await ask()).text).toBe(words)
    expect((await ask()).text).toContain(words)
  })
})
