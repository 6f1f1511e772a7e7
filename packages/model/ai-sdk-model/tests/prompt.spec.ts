import { CallId, createUserMessage, type ContentBlock, type Message, text } from '@loopguard/llm'
import { says } from '@loopguard/testkit/model-server'
import { describe, expect, it } from 'vitest'
import type { Config } from '@loopguard/ai-sdk-model'
import { assistant, BOTH, result, stage, user } from './stage.ts'

const call = (id: string, raw: string, more: object = {}): ContentBlock => ({
  type: 'tool-call',
  id: CallId(id),
  name: 'look',
  arguments: raw,
  ...more,
})

/** The messages of a request as the API of each kind gets them. */
async function sent(kind: (typeof BOTH)[number], messages: readonly Message[], config: Partial<Config> = {}): Promise<unknown[]> {
  const { ask, server } = await stage({ kind, entries: [says({ text: 'ok' })], config })
  await ask({ messages })
  return ((await server.request(0)).body as { messages: unknown[] }).messages
}

describe('openai-compatible: a history', () => {
  it('goes out as messages, results and texts, the system first', async () => {
    const { ask, server } = await stage({ entries: [says({ text: 'ok' })] })
    const two = createUserMessage({ content: [text('one'), text('two')], source: { kind: 'user' } })
    await ask({
      system: 'Be short.',
      messages: [user('hi'), assistant([text('I look'), call('c1', '{"at":"sea"}')]), result('c1', 'blue'), two],
    })
    expect(((await server.request(0)).body as { messages: unknown }).messages).toEqual([
      { role: 'system', content: 'Be short.' },
      { role: 'user', content: 'hi' },
      {
        role: 'assistant',
        content: 'I look',
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{"at":"sea"}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'blue' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'one' },
          { type: 'text', text: 'two' },
        ],
      },
    ])
  })

  it('has text beside calls that is empty, not null', async () => {
    expect(await sent('openai-compatible', [user('hi'), assistant([call('c1', '{}')]), result('c1', 'x')])).toMatchObject([
      {},
      { content: '' },
      {},
    ])
  })
})

describe('anthropic: a history', () => {
  it('goes out as messages, results and texts', async () => {
    expect(
      await sent('anthropic', [
        user('hi'),
        assistant([text('I look'), call('c1', '{"at":"sea"}')]),
        result('c1', 'gone', true),
        user('and?'),
      ]),
    ).toMatchObject([
      { role: 'user', content: [{ type: 'text', text: 'hi' }] },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'I look' },
          { type: 'tool_use', id: 'c1', name: 'look', input: { at: 'sea' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c1', content: 'gone', is_error: true },
          { type: 'text', text: 'and?' },
        ],
      },
    ])
  })
})

describe.each(BOTH)('%s: what a history holds', (kind) => {
  const argumentsOf = async (raw: string): Promise<unknown> => {
    const [, message] = (await sent(kind, [user('hi'), assistant([call('c1', raw)]), result('c1', 'x')])) as [
      unknown,
      Record<string, unknown>,
    ]
    if (kind === 'anthropic') return (message['content'] as { input: unknown }[])[0]?.input
    return JSON.parse((message['tool_calls'] as { function: { arguments: string } }[])[0]?.function.arguments ?? 'null')
  }

  it.each([
    ['{"at": sea', { rawInvalidInput: '{"at": sea' }],
    ['[1,2]', { rawInvalidInput: '[1,2]' }],
    ['"sea"', { rawInvalidInput: '"sea"' }],
    ['null', { rawInvalidInput: 'null' }],
    ['', {}],
    ['{"at":"sea"}', { at: 'sea' }],
  ])('arguments %j go out as an object', async (raw, expected) => {
    expect(await argumentsOf(raw)).toEqual(expected)
  })

  it('texts without a word are not sent, nor what is left without a part', async () => {
    const messages = [user('hi'), user(''), assistant([text('')]), assistant([]), user('and?')]
    expect(JSON.stringify(await sent(kind, messages))).toBe(JSON.stringify(await sent(kind, [user('hi'), user('and?')])))
  })

  it('reasoning goes back to the provider that it came from, and to no other', async () => {
    const block: ContentBlock = { type: 'reasoning', text: 'deep thought', providerData: { anthropic: { signature: 'sig-1' } } }
    const withText = (provider: string): Message[] => [user('hi'), assistant([block, text('so')], provider), user('and?')]
    expect(JSON.stringify(await sent(kind, withText('served')))).toContain('deep thought')
    expect(JSON.stringify(await sent(kind, withText('other')))).not.toMatch(/deep thought|sig-1/)
    expect(JSON.stringify(await sent(kind, withText('served'), { sendReasoning: false }))).not.toMatch(/deep thought|sig-1/)
  })

  it('reasoning that led to nothing in its message is not sent', async () => {
    const block: ContentBlock = { type: 'reasoning', text: 'deep thought', providerData: { anthropic: { signature: 'sig-1' } } }
    expect(JSON.stringify(await sent(kind, [user('hi'), assistant([block]), user('and?')]))).not.toContain('deep thought')
    const cut = assistant([text('so'), block, text('')])
    expect(JSON.stringify(await sent(kind, [user('hi'), cut, user('and?')]))).not.toContain('deep thought')
  })

  it('provider data goes back to the provider that it came from, and to no other', async () => {
    const data = {
      providerData:
        kind === 'anthropic' ? { anthropic: { cacheControl: { type: 'ephemeral' } } } : { served: { thoughtSignature: 'sig-1' } },
    }
    const of = (provider: string): Message[] => [user('hi'), assistant([call('c1', '{}', data)], provider), result('c1', 'x')]
    const mark = kind === 'anthropic' ? 'ephemeral' : 'sig-1'
    expect(JSON.stringify(await sent(kind, of('served')))).toContain(mark)
    expect(JSON.stringify(await sent(kind, of('other')))).not.toContain(mark)
  })

  it('call ids of another provider that not all take are mapped, for the call and its result alike', async () => {
    const odd = 'functions.look:0'
    const idsOf = async (provider: string, id: string): Promise<string[]> => {
      const history = JSON.stringify(await sent(kind, [user('hi'), assistant([call(id, '{}')], provider), result(id, 'x')]))
      return [...history.matchAll(/"(?:id|tool_call_id|tool_use_id)":"([^"]+)"/g)].map(([, found]) => found as string)
    }
    expect(await idsOf('served', odd)).toEqual([odd, odd])
    expect(await idsOf('other', 'toolu_1-a')).toEqual(['toolu_1-a', 'toolu_1-a'])
    for (const id of [odd, 'x'.repeat(65)]) {
      const [made, answered] = await idsOf('other', id)
      expect(made).toMatch(/^call_[0-9a-f]{32}$/)
      expect(answered).toBe(made)
      expect(await idsOf('other', id)).toEqual([made, made])
    }
    expect((await idsOf('other', odd))[0]).not.toBe((await idsOf('other', `${odd}0`))[0])
  })

  it('a result answers the latest call of its id before it, however far, and one of no call stays as it is', async () => {
    const [odd, even] = ['functions.look:0', 'functions.look:2']
    const history = [
      user('hi'),
      result(odd, 'before any'),
      assistant([call(odd, '{}'), call(even, '{}')], 'other'),
      result(odd, 'near'),
      assistant([call(odd, '{}')], 'served'),
      assistant([call('c', '{}')], 'served'),
      result(odd, 'far'),
      result(even, 'farther'),
      result('none', 'of no call'),
      assistant([call(odd, '{}')], 'other'),
      assistant([call('d', '{}')], 'served'),
      result(odd, 'the third'),
    ]
    const ids = JSON.stringify(await sent(kind, history)).matchAll(/"tool_(?:call|use)_id":"([^"]+)"/g)
    const mapped = expect.stringMatching(/^call_/) as string
    expect([...ids].map(([, id]) => id)).toEqual([odd, mapped, odd, mapped, 'none', mapped])
  })

  it('blocks of unknown types are told as they stand in the log', async () => {
    const odd = { type: 'map', of: 'the sea' } as never as ContentBlock
    const results = result('c1', 'x')
    const answered = { ...results, content: [{ ...results.content[0], content: [text('one'), odd] }] } as Message
    const history = [user('hi'), assistant([call('c1', '{}')]), answered, { ...user('x'), content: [odd] }]
    const told = JSON.stringify(await sent(kind, history))
    expect(told).toContain(JSON.stringify(`one\n${JSON.stringify(odd)}`))
    expect(told.split('the sea')).toHaveLength(3)
  })

  it('is written once: the same history goes out the same, and goes on', async () => {
    const { ask, server } = await stage({ kind, entries: [says({ text: 'ok' })] })
    const history = [user('hi'), assistant([text('I look'), call('functions.look:0', '{}')], 'other')]
    const more = [...history, result('functions.look:0', 'blue')]
    await ask({ messages: history })
    await ask({ messages: more })
    await ask({ messages: more })
    const [first, second, third] = server.requests.map(({ body }) => (body as { messages: unknown[] }).messages)
    expect(third).toEqual(second)
    expect(JSON.stringify(second)).toContain(JSON.stringify(first).slice(0, 60))
    expect(JSON.stringify(second)).not.toContain('functions.look:0')
  })
})
