import fc from 'fast-check'
import { createHarness, parseTranscript, Replay, type Transcript } from '@loopguard/testkit'
import * as repeatToolReminder from '@loopguard/repeat-tool-reminder'
import { describe, expect, it } from 'vitest'

/** The same conversation in each format: eight equal calls, reminded at 3, 5 and 8 when it was recorded, and a last word. */
const GENTLE =
  'You are repeating the exact same tool call with identical arguments. Carefully analyze the previous result before calling again: if the task is not complete, try a different approach or different arguments instead of repeating the call.'
const detailed = (run: number): string =>
  `Loop warning: one and the same tool call, again and again.\n- tool: look\n- consecutive_calls: ${run}\n- arguments: {"a":1}\nThese calls make no progress. Do not make this call with these arguments again: take a different action, or call with different arguments. If you have gathered enough evidence, finish the task.`
const REMINDERS = new Map([
  [3, GENTLE],
  [5, detailed(5)],
  [8, detailed(8)],
])
const STEPS = [1, 2, 3, 4, 5, 6, 7, 8]
const RAW = '{"a":1}'
const steps = (make: (n: number, reminder: string | undefined) => object[]): object[] => STEPS.flatMap((n) => make(n, REMINDERS.get(n)))

const chat = [
  { role: 'system', content: 'be brief' },
  { role: 'user', content: 'go' },
  ...steps((n, reminder) => [
    { role: 'assistant', content: null, tool_calls: [{ id: `c${n}`, type: 'function', function: { name: 'look', arguments: RAW } }] },
    { role: 'tool', tool_call_id: `c${n}`, content: 'same' },
    ...(reminder === undefined ? [] : [{ role: 'user', content: reminder }]),
  ]),
  { role: 'assistant', content: 'done' },
]

const anthropic = [
  { role: 'user', content: 'go' },
  ...steps((n, reminder) => [
    { role: 'assistant', content: [{ type: 'tool_use', id: `c${n}`, name: 'look', input: { a: 1 } }] },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: `c${n}`, content: [{ type: 'text', text: 'same' }] },
        ...(reminder === undefined ? [] : [{ type: 'text', text: reminder }]),
      ],
    },
  ]),
  { role: 'assistant', content: [{ type: 'text', text: 'done' }] },
]

const said = (role: string, type: string, text: string): object => ({ type: 'message', role, content: [{ type, text }] })
const responses = [
  said('user', 'input_text', 'go'),
  ...steps((n, reminder) => [
    { type: 'function_call', call_id: `c${n}`, name: 'look', arguments: RAW },
    { type: 'function_call_output', call_id: `c${n}`, output: 'same' },
    ...(reminder === undefined ? [] : [said('user', 'input_text', reminder)]),
  ]),
  said('assistant', 'output_text', 'done'),
]

const message = (text: string, source: object): object => ({ id: 'm', role: 'user', content: [{ type: 'text', text }], source })
const event = (type: string, data: object): object => ({ type, data })
const answer = (...content: object[]): object =>
  event('assistant/message', { turn: 1, step: 1, message: { id: 'm', role: 'assistant', content } })
const eventsWith = (header: object): object[] => [
  event('turn/start', { turn: 1 }),
  event('user/message', message('go', { kind: 'user' })),
  event('request/header', header),
  ...steps((n, reminder) => [
    event('step/start', { turn: 1, step: n }),
    answer({ type: 'tool-call', id: `c${n}`, name: 'look', arguments: RAW }),
    event('tool/call', { turn: 1, step: n, callId: `c${n}`, name: 'look', arguments: RAW }),
    event('tool/result', {
      turn: 1,
      step: n,
      message: {
        id: 'm',
        role: 'user',
        content: [{ type: 'tool-result', toolCallId: `c${n}`, content: [{ type: 'text', text: 'same' }], isError: false }],
        source: { kind: 'tool', callId: `c${n}` },
      },
    }),
    ...(reminder === undefined ? [] : [event('user/message', message(reminder, { kind: 'plugin', plugin: 'repeat-tool-reminder' }))]),
    event('step/end', { turn: 1, step: n }),
  ]),
  answer({ type: 'text', text: 'done' }),
]
const numbered = (events: object[]): object[] => events.map((one, seq) => ({ seq, time: 1_000 + seq, ...one }))
const own = [event('session/start', { version: 1, id: 'a' }), ...eventsWith({ provider: 'p', model: 'm1', system: 'be brief' })]
const harness = [
  { type: 'session', version: 0, id: 's', createdAt: 1_000, cwd: '/' },
  ...numbered(eventsWith({ header: { provider: 'p', model: 'm1', system: 'be brief' }, reason: 'initial' })),
]

const json = (value: unknown): string => JSON.stringify(value, null, 2)
const lines = (values: readonly object[]): string => values.map((value) => `${JSON.stringify(value)}\n`).join('')
const bodies = (key: string, all: readonly object[], more: object): object[] =>
  [3, Math.floor(all.length / 2), all.length].map((length) => ({ model: 'm1', ...more, [key]: all.slice(0, length) }))
const summary = { summary: { calls: 8 } }

const FORMATS: [name: string, text: string, hasHead: boolean][] = [
  ['our session log', lines(numbered(own)), true],
  ['our session log, torn', `${lines(numbered(own))}{"seq":99,"time":1,"ty`, true],
  ['our --json output', lines([...numbered(own).map((one) => ({ agent: 'a', event: one })), { finding: { guard: 'g' } }, summary]), true],
  ["the DeepSeek Harness' log", lines(harness), true],
  ['an array of chat messages', json(chat.slice(1)), false],
  ['a body of chat messages', json({ model: 'm1', messages: chat, tools: [] }), true],
  ['chat messages one a line', lines(chat.slice(1)), false],
  ['chat bodies one a line', lines(bodies('messages', chat, {})), true],
  ['an array of Anthropic messages', json(anthropic), false],
  ['an Anthropic body', json({ model: 'm1', system: [{ type: 'text', text: 'be brief' }], messages: anthropic }), true],
  ['Anthropic messages one a line', lines(anthropic), false],
  ['Anthropic bodies one a line', lines(bodies('messages', anthropic, { system: 'be brief' })), true],
  ['an array of Responses items', json(responses), false],
  ['a Responses body', json({ model: 'm1', instructions: 'be brief', input: responses }), true],
  [
    'a Responses body with its output',
    json({ model: 'm1', instructions: 'be brief', input: responses.slice(0, -1), output: responses.slice(-1) }),
    true,
  ],
  ['Responses items one a line', lines(responses), false],
  ['Responses bodies one a line', lines(bodies('input', responses, { instructions: 'be brief' })), true],
]

const text = (words: string) => ({ type: 'text', text: words })
const call = (n: number) => ({ id: `c${n}`, name: 'look', arguments: RAW })
const EXPECTED = (hasHead: boolean): Transcript =>
  ({
    system: hasHead ? 'be brief' : undefined,
    model: hasHead ? 'm1' : undefined,
    answers: [
      ...STEPS.map((n) => ({ blocks: [{ type: 'tool-call', ...call(n) }], calls: [{ ...call(n), result: 'same' }] })),
      { blocks: [text('done')], calls: [] },
    ],
    inputs: [
      [{ kind: 'user', content: [text('go')] }],
      ...STEPS.map((n) =>
        [REMINDERS.get(n)].flatMap((words) => (words === undefined ? [] : [{ kind: 'instruction', content: [text(words)] }])),
      ),
      [],
    ],
  }) as unknown as Transcript

describe('one conversation', () => {
  it.each(FORMATS)('is the same transcript from %s', (_name, written, hasHead) => {
    expect(parseTranscript(written, 'x')).toEqual(EXPECTED(hasHead))
  })

  it.each(FORMATS)('is reminded at 3, 5 and 8 again when it is replayed from %s', async (_name, written) => {
    const transcript = parseTranscript(written, 'x')
    const replay = new Replay(transcript)
    await using host = await createHarness({ adapter: replay, plugins: [repeatToolReminder], tools: replay.tools() })
    const reminded: string[] = []
    host.ctx.on('tools/result', ({ callId }, { additionalContexts = [] }) => {
      if (additionalContexts.length > 0) reminded.push(callId)
    })
    const agent = host.agent()
    replay.start(agent)
    await agent.whenIdle()
    expect(reminded).toEqual(['c3', 'c5', 'c8'])
  })
})

const notesOf = (value: unknown): readonly string[] => parseTranscript(typeof value === 'string' ? value : json(value), 'x').notes ?? []
const inputsOf = (value: unknown): string[] =>
  parseTranscript(json(value), 'x').inputs.flatMap((inputs) =>
    inputs.map(({ kind, content }) => `${kind}: ${content.map((block) => block.text).join('|')}`),
  )
const callsOf = (written: string) =>
  parseTranscript(written, 'x').answers.flatMap(({ calls }) => calls.map(({ arguments: raw, result, isError }) => [raw, result, isError]))

describe('a message of the user', () => {
  it.each<[string, object, string]>([
    ['with a name', { role: 'user', name: 'monitor', content: 'hi' }, 'instruction: hi'],
    ['with null for a name', { role: 'user', name: null, content: 'hi' }, 'user: hi'],
    ['whose source is a plugin', { role: 'user', content: 'hi', source: { kind: 'plugin' } }, 'instruction: hi'],
    ['whose source is the user', { role: 'user', content: 'hi', source: { kind: 'user' } }, 'user: hi'],
    ["that is a guard's own text", { role: 'user', content: GENTLE }, `instruction: ${GENTLE}`],
    ["that only quotes a guard's text", { role: 'user', content: `it said: ${GENTLE}` }, `user: it said: ${GENTLE}`],
  ])('%s', (_name, one, expected) => {
    expect(inputsOf([{ role: 'user', content: 'go' }, one])).toEqual(['user: go', expected])
  })

  it("is told apart from the guard's text beside it", () => {
    expect(inputsOf([{ role: 'user', content: [text(GENTLE), text('and go on')] }])).toEqual([`instruction: ${GENTLE}`, 'user: and go on'])
  })
})

describe('what real files have', () => {
  it('a torn last line is left out, and said, but for a session log', () => {
    expect(notesOf(`${lines(chat)}{"role":"assis`)).toEqual(['the last line breaks off, and is left out'])
    expect(notesOf(`${lines(numbered(own))}{"seq`)).toEqual([])
  })

  it('a role that is not known is no word of the user, and said', () => {
    for (const [role, known] of [
      [[{ role: 'moderator', content: 'hm' }, ...chat], '"system", "developer", "user", "assistant", "tool" or "function"'],
      [[{ role: 'moderator', content: 'hm' }, ...anthropic], '"user" or "assistant"'],
      [[{ role: 'moderator', content: 'hm' }, ...responses], '"system", "developer", "user" or "assistant"'],
    ] as const) {
      expect(notesOf(role)[0]).toMatch(/^\w+\[0\]\.role: "moderator" is not /)
      expect(notesOf(role)[0]).toContain(known)
      expect(inputsOf(role)[0]).toBe('instruction: hm')
    }
  })

  const use = (more: object) => ({ role: 'assistant', content: [{ type: 'tool_use', name: 'look', input: {}, ...more }] })

  it('ids that are missing are made up, and a result without one goes to the oldest call that waits, which is said', () => {
    const two = { role: 'assistant', tool_calls: [1, 2].map((n) => ({ function: { name: 'look', arguments: `${n}` } })) }
    const written = [two, { role: 'tool', content: 'one' }, { role: 'tool', content: 'two' }]
    expect(callsOf(json(written))).toEqual([
      ['1', 'one', undefined],
      ['2', 'two', undefined],
    ])
    expect(notesOf(written)).toEqual(
      [1, 2].map((n) => `messages[${n}].tool_call_id: is missing; the result is given to the oldest call that waits for one`),
    )
    expect(callsOf(json([use({}), { role: 'user', content: [{ type: 'tool_result', content: 'one', is_error: true }] }]))).toEqual([
      ['{}', 'one', true],
    ])
    const item = { type: 'function_call', name: 'look', arguments: '{}' }
    expect(callsOf(json([item, { type: 'function_call_output', output: [{ type: 'input_text', text: 'one' }] }]))).toEqual([
      ['{}', 'one', undefined],
    ])
  })

  it('a call may have no result', () => {
    expect(callsOf(json([use({ id: 'c' })]))).toEqual([['{}', undefined, undefined]])
    expect(callsOf(json([{ type: 'function_call', call_id: 'c', name: 'look', arguments: '' }]))).toEqual([['', undefined, undefined]])
    expect(callsOf(lines([answer({ type: 'tool-call', id: 'c', name: 'look', arguments: '' })]))).toEqual([['', undefined, undefined]])
  })

  it('arguments may be what their text stands for, or missing', () => {
    const written = [
      { role: 'assistant', tool_calls: [{ b: 1 }, undefined].map((args) => ({ function: { name: 'look', arguments: args } })) },
    ]
    expect(callsOf(json(written)).map(([raw]) => raw)).toEqual(['{"b":1}', ''])
    expect(callsOf(json([{ type: 'function_call', name: 'look', arguments: { b: 1 } }]))).toEqual([['{"b":1}', undefined, undefined]])
    expect(callsOf(json([{ type: 'custom_tool_call', name: 'look', input: 'b' }]))).toEqual([['b', undefined, undefined]])
  })

  it('blocks and items of other kinds are left out, and said', () => {
    expect(notesOf([{ role: 'assistant', content: [{ type: 'server_tool_use', id: 's' }, text('hi')] }])).toEqual([
      'messages[0].content[0].type: "server_tool_use" is left out',
    ])
    expect(notesOf([{ type: 'web_search_call', id: 'w' }, said('assistant', 'output_text', 'hi')])).toEqual([
      'items[0].type: "web_search_call" is left out',
    ])
  })

  it('reasoning, media and refusals have their places', () => {
    const blocks = (value: unknown) => parseTranscript(json(value), 'x').answers[0]?.blocks
    const hm = { type: 'reasoning', text: 'hm' }
    expect(
      blocks([{ role: 'assistant', content: [{ type: 'thinking', thinking: 'hm' }, { type: 'redacted_thinking' }, text('a')] }]),
    ).toEqual([hm, text('a')])
    expect(
      blocks([
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }] },
        { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'no' }] },
      ]),
    ).toEqual([hm, text('no')])
    expect(inputsOf([...anthropic, { role: 'user', content: [{ type: 'image' }] }]).at(-1)).toBe('user: [image left out]')
    expect(inputsOf([...responses, { role: 'user', content: [{ type: 'input_file' }] }]).at(-1)).toBe('user: [input_file left out]')
  })

  it('a body that does not begin with the one before it is another conversation, which is said unless it says that it goes on', () => {
    const other = [{ role: 'user', content: 'something else' }]
    expect(notesOf(lines([{ messages: chat }, { messages: other }]))).toEqual([
      'line 2: does not begin with the request before it, and is read as another conversation',
    ])
    const more = { input: other, previous_response_id: 'r1' }
    expect(notesOf(lines([{ input: responses }, more]))).toEqual([])
    expect(parseTranscript(lines([{ input: responses }, more]), 'x').inputs.at(-1)).toEqual([
      { kind: 'user', content: [text('something else')] },
    ])
  })

  it('the marks of a cache do not make a request another conversation', () => {
    const marked = anthropic.map((one, at) => (at === 0 ? { role: 'user', content: 'go', cache_control: { type: 'ephemeral' } } : one))
    expect(parseTranscript(lines([{ messages: marked.slice(0, 3) }, { messages: anthropic }]), 'x')).toEqual(EXPECTED(false))
  })

  it('of several agents the first is read, and the others are named', () => {
    const printed = (agent: string) => numbered(own).map((one) => ({ agent, event: one }))
    expect(notesOf(lines([...printed('a'), ...printed('a.1'), summary]))).toEqual([
      'the conversation of agent "a" is read; left out: "a.1"',
    ])
  })

  it('a body of plain text that keeps its system prompt apart is one of the Anthropic API', () => {
    const body = { system: 'be brief', messages: [{ role: 'user', content: 'go' }] }
    expect(parseTranscript(json(body), 'x')).toMatchObject({ system: 'be brief', inputs: [[{ kind: 'user', content: [text('go')] }]] })
  })

  it('the first system prompt and the first model of a log count', () => {
    const second = event('request/header', { provider: 'p', model: 'm2', system: 'be long' })
    expect(parseTranscript(lines([...own, second]), 'x')).toEqual(EXPECTED(true))
  })

  it('what replaced an earlier message in a log is no step of the conversation', () => {
    const replaced = { ...event('user/message', message('a summary', { kind: 'user' })), surfaceOp: { kind: 'replace', seq: 2 } }
    expect(parseTranscript(lines([...harness, replaced]), 'x')).toEqual(EXPECTED(true))
  })
})

describe('what cannot be read', () => {
  const WHAT =
    'What is read: a session log, ours or that of the DeepSeek Harness; the output of `loopguard run --json`; chat-completions messages; Anthropic messages; items of the OpenAI Responses API'

  it.each<[string, string]>([
    ['7', `it is 7. ${WHAT}`],
    [json({ massages: [] }), `it is an object with the keys massages. ${WHAT}`],
    ['[]', `it is an array of 0. ${WHAT}`],
    ['["hi"]', `it is an array of 1, the first of which is "hi". ${WHAT}`],
    [json([{ content: 'hi' }]), `it is an array of 1, the first of which is an object with the keys content. ${WHAT}`],
    [lines([{ level: 'info' }, { level: 'warn' }]), `it is 2 lines, the first of which is an object with the keys level. ${WHAT}`],
  ])('is told what it looks like, if its format cannot be told: %j', (written, expected) => {
    expect(faultOf(written)).toBe(`x: its format cannot be told: ${expected}`)
  })

  it.each<[string, string]>([
    [json([use7()]), 'x: messages[0].content[0].name: expected the name of a tool, got 7 (read as Anthropic messages)'],
    [
      json([{ type: 'function_call_output', call_id: 'c', output: 'x' }]),
      'x: items[0].call_id: expected the id of an earlier tool call that has no result yet, got "c" (read as items of the OpenAI Responses API)',
    ],
    [
      lines([event('turn/start', { turn: 1 }), event('user/message', { source: { kind: 'user' } })]),
      'x: line 2.data.content: expected an array of blocks, got nothing (read as a session log, ours or that of the DeepSeek Harness)',
    ],
    [
      lines([{ agent: 'a', event: event('assistant/message', { message: {} }) }]),
      'x: event.data.message.content: expected an array of blocks, got nothing (read as the output of `loopguard run --json`)',
    ],
    [
      lines([event('session/start', { version: 1, id: 'a' })]),
      'x: expected at least one message, got none (read as a session log, ours or that of the DeepSeek Harness)',
    ],
  ])('is told as which format it was read, and what was missing: %j', (written, expected) => {
    expect(faultOf(written)).toBe(expected)
  })
})

function faultOf(written: string): string {
  try {
    parseTranscript(written, 'x')
    return 'no fault'
  } catch (error) {
    return (error as Error).message
  }
}

function use7(): object {
  return { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 7, input: {} }] }
}

it('any damage to a transcript is read around or refused with BAD_TRANSCRIPT, never anything else', () => {
  const values = fc.oneof(fc.constant(undefined), fc.constantFrom<unknown>(null, '', 7, true, [], {}, [7], 'x'))
  fc.assert(
    fc.property(fc.nat(FORMATS.length - 1), fc.nat(), values, (which, place, value) => {
      const written = (FORMATS[which] as (typeof FORMATS)[number])[1]
      const isLines = parsed(written) === undefined
      const root: unknown = isLines ? written.trimEnd().split('\n').map(parsed) : parsed(written)
      const slots = slotsOf(root)
      slots[place % slots.length]?.(value)
      const damaged = isLines ? (root as unknown[]).map((line) => `${JSON.stringify(line ?? null)}\n`).join('') : JSON.stringify(root)
      expect(['BAD_TRANSCRIPT', undefined]).toContain(codeOf(() => parseTranscript(damaged, 'x')))
    }),
    { numRuns: 2_000 },
  )
})

function codeOf(read: () => unknown): unknown {
  try {
    read()
    return undefined
  } catch (error) {
    return (error as { readonly code?: unknown }).code ?? error
  }
}

function parsed(written: string): unknown {
  try {
    return JSON.parse(written)
  } catch {
    return undefined
  }
}

/** A setter for each value inside another. */
function slotsOf(value: unknown): ((put: unknown) => void)[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.keys(value).flatMap((key) => [(put: unknown) => void Reflect.set(value, key, put), ...slotsOf(Reflect.get(value, key))])
}
