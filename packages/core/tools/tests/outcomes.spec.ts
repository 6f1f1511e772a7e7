import { describe, expect, it } from 'vitest'
import { outcomes } from './outcomes.ts'
import { bogus, Host, said, traceStages, unfrozen } from './support.ts'

describe.each(Object.entries(outcomes))('%s', (name, { run, text, info }) => {
  it('has its text, name and code, and nothing else', async () => {
    expect(await run(await Host.start())).toEqual({
      isError: true,
      content: [{ type: 'text', text }],
      error: { message: text.replace(/^Error: /, ''), ...(info !== undefined && { info }) },
    })
  })

  it('is frozen to its depth', async () => {
    expect(unfrozen(await run(await Host.start()))).toEqual([])
  })

  it('passes post-execute once, unless it was aborted beforehand, and tools/result once', async () => {
    const host = await Host.start()
    const trace = traceStages(host.ctx)
    await run(host)
    const end = name === 'the caller had aborted before the call' ? ['result'] : ['post', 'result']
    expect(trace.filter((stage) => stage === 'post' || stage === 'result')).toEqual(end)
  })
})

describe('a success', () => {
  it('of a body that returns text is one text block', async () => {
    const result = await (await Host.start(() => 'read')).call()
    expect(result).toEqual({ isError: false, content: [{ type: 'text', text: 'read' }] })
    expect(unfrozen(result)).toEqual([])
  })

  it('of a body that returns blocks is a frozen copy of them', async () => {
    const blocks = [
      { type: 'reasoning' as const, text: 'hm' },
      { type: 'text' as const, text: 'read' },
    ]
    const result = await (await Host.start(async () => blocks)).call()
    expect(result).toEqual({ isError: false, content: blocks })
    expect(unfrozen(result)).toEqual([])
    expect(unfrozen(blocks)).toHaveLength(3)
  })

  it('of a body that returns nothing to say has no blocks', async () => {
    expect(await (await Host.start(() => [])).call()).toEqual({ isError: false, content: [] })
    expect(said(await (await Host.start(() => '')).call())).toBe('')
  })
})

describe('a body may throw anything', () => {
  const secretive = {
    get message(): string {
      throw new Error('no')
    },
    get code(): string {
      throw new Error('no')
    },
  }
  const nameless = Object.defineProperty({ message: 'nameless', code: 'X' }, 'name', {
    get() {
      throw new Error('no')
    },
  })
  const { proxy: revoked, revoke } = Proxy.revocable({}, {})
  revoke()

  it.each<[string, unknown, string, object?]>([
    ['null', null, 'null'],
    ['undefined', undefined, 'undefined'],
    ['a string', 'plain text', 'plain text'],
    ['an empty string', '', 'failed without a message'],
    ['an error without a message', new Error(), 'failed without a message'],
    ['an error', new TypeError('oops'), 'oops'],
    ['a number', 0, '0'],
    ['a symbol', Symbol('odd'), 'Symbol(odd)'],
    ['a frozen object', Object.freeze({ message: 'cold', code: 'COLD' }), 'cold', { name: 'Error', code: 'COLD' }],
    ['a numeric code', Object.assign(new Error('legacy'), { code: 20 }), 'legacy'],
    ['getters that throw', secretive, 'a value that cannot be shown was thrown'],
    ['a name that throws', nameless, 'nameless', { name: 'Error', code: 'X' }],
    ['a revoked proxy', revoked, 'a value that cannot be shown was thrown'],
  ])('%s', async (_name, thrown, message, info) => {
    const host = await Host.start(() => {
      throw thrown
    })
    const error = { message, ...(info !== undefined && { info }) }
    expect(await host.call()).toEqual({ isError: true, content: [{ type: 'text', text: `Error: ${message}` }], error })
  })

  it('an error whose code is TOOL_TIMEOUT stays its own', async () => {
    const host = await Host.start(() => {
      throw Object.assign(new Error('mine'), { code: 'TOOL_TIMEOUT' })
    })
    expect(await host.call()).toMatchObject({ error: { message: 'mine', info: { name: 'Error', code: 'TOOL_TIMEOUT' } } })
  })
})

describe('a bad output says what is wrong with it, and where', () => {
  it.each<[unknown, string]>([
    [undefined, 'undefined, not text or an array of content blocks'],
    [null, 'null, not text or an array of content blocks'],
    [{ text: 'x' }, 'an object, not text or an array of content blocks'],
    [() => 'x', 'a function, not text or an array of content blocks'],
    [[42], 'output[0] must be a content block, got 42'],
    [[{ text: 'x' }], 'output[0] must be a content block, got an object'],
    [
      [
        { type: 'text', text: 'ok' },
        { type: 'text', text: 5 },
      ],
      'output[1].text must be text, got 5',
    ],
    [[{ type: 'text', text: undefined }], 'output[0].text is undefined'],
    [[{ type: 'tool-call', id: 'a', name: 'b', arguments: {} }], 'output[0].arguments must be text, got an object'],
    [[{ type: 'tool-result', toolCallId: 'a', content: 'b' }], 'output[0].content must be an array of content blocks, got "b"'],
    [[{ type: 'tool-result', toolCallId: 'a', content: [], isError: 1 }], 'output[0].isError must be true or false, got 1'],
    [[{ type: 'tool-result', toolCallId: 'a', content: [{ type: 'text' }] }], 'output[0].content[0].text must be text, got undefined'],
    [[{ type: 'text', text: 'x', at: new Date(0) }], 'output[0].at is a Date, not a plain object'],
    // oxlint-disable-next-line no-sparse-arrays
    [[, 'x'], 'output[0] is a hole: an array must have no gaps'],
  ])('%#', async (output, why) => {
    const result = await (await Host.start(() => bogus(output))).call()
    expect(said(result)).toBe(`Error: tool "echo" returned invalid output: ${why}`)
  })

  it.each([[{ type: 'image', data: 'x' }], [{ type: 'toString' }], [{ type: 'text', text: 'x', lang: 'en' }]])(
    'a block type and a key that are not known pass: %j',
    async (block) => {
      const result = await (await Host.start(() => bogus([block]))).call()
      expect([result.isError, result.content]).toEqual([false, [block]])
    },
  )

  it('one that throws when it is looked at is not the end of the call', async () => {
    const trap = new Proxy([], {
      ownKeys() {
        throw new Error('keep out')
      },
    })
    const result = await (await Host.start(() => bogus(trap))).call()
    expect(said(result)).toBe('Error: tool "echo" returned invalid output: keep out')
  })

  it('results in results twenty thousand deep are checked without overflowing', async () => {
    let content: unknown[] = [{ type: 'text', text: 5 }]
    for (let depth = 0; depth < 20_000; depth++) content = [{ type: 'tool-result', toolCallId: 'a', content }]
    const result = await (await Host.start(() => bogus(content))).call()
    expect(said(result)).toMatch(/content\[0\]\.text must be text, got 5$/)
    expect(said(result).length).toBeLessThan(600)
  }, 60_000)
})
