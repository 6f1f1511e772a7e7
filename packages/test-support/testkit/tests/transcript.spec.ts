import fc from 'fast-check'
import { parseTranscript, readTranscript } from '@loopguard/testkit'
import { describe, expect, it } from 'vitest'
import { findJsonFault } from '../src/read/json-fault.ts'

const call = (id: string, name = 'look', args = '{}'): object => ({ id, type: 'function', function: { name, arguments: args } })
const says = (content: unknown, ...calls: object[]): object => ({
  role: 'assistant',
  content,
  ...(calls.length > 0 && { tool_calls: calls }),
})
const hears = (content: unknown): object => ({ role: 'user', content })
const gives = (id: string, content: unknown): object => ({ role: 'tool', tool_call_id: id, content })
const read = (...messages: unknown[]): ReturnType<typeof parseTranscript> => parseTranscript(JSON.stringify(messages), 'x.json')
const text = (words: string): object => ({ type: 'text', text: words })

function faultOf(json: unknown): string {
  try {
    parseTranscript(typeof json === 'string' ? json : JSON.stringify(json), 'x.json')
    return 'no fault'
  } catch (error) {
    return (error as Error).message
  }
}

describe('a recorded conversation', () => {
  it('is cut into what the model said and what it read in between', () => {
    const transcript = parseTranscript(
      JSON.stringify({
        model: 'm1',
        messages: [
          { role: 'system', content: 'be brief' },
          { role: 'developer', content: [{ type: 'text', text: 'be exact' }] },
          hears('go'),
          says('looking', call('c1'), call('c2', 'list', '{"a":1}')),
          gives('c2', 'second'),
          gives('c1', [
            { type: 'text', text: 'fi' },
            { type: 'text', text: 'rst' },
          ]),
          hears('hurry'),
          { role: 'system', content: 'be quick' },
          says('done'),
          hears('thanks'),
        ],
      }),
      'x.json',
    )
    expect(transcript).toEqual({
      system: 'be brief\n\nbe exact',
      model: 'm1',
      answers: [
        {
          blocks: [
            text('looking'),
            { type: 'tool-call', id: 'c1', name: 'look', arguments: '{}' },
            { type: 'tool-call', id: 'c2', name: 'list', arguments: '{"a":1}' },
          ],
          calls: [
            { id: 'c1', name: 'look', arguments: '{}', result: 'first' },
            { id: 'c2', name: 'list', arguments: '{"a":1}', result: 'second' },
          ],
        },
        { blocks: [text('done')], calls: [] },
      ],
      inputs: [
        [{ kind: 'user', content: [text('go')] }],
        [
          { kind: 'user', content: [text('hurry')] },
          { kind: 'instruction', content: [text('be quick')] },
        ],
        [{ kind: 'user', content: [text('thanks')] }],
      ],
    })
  })

  it('keeps which calls failed', () => {
    const failed = { ...gives('c1', 'no'), is_error: true }
    const { answers } = read(
      says(null, call('c1'), call('c2'), call('c3')),
      failed,
      { ...gives('c2', 'yes'), is_error: false },
      { ...gives('c3', 'yes'), is_error: null },
    )
    expect(answers[0]?.calls.map(({ isError }) => isError)).toEqual([true, undefined, undefined])
    expect(faultOf([says(null, call('c1')), { ...gives('c1', 'no'), is_error: 'yes' }])).toBe(
      'x.json: messages[1].is_error: expected true or false, got "yes" (read as chat-completions messages)',
    )
  })

  it('may be a bare array, with a byte order mark, and with null for what is not there', () => {
    const message = { role: 'assistant', content: 'hi', tool_calls: null, function_call: null, refusal: null, audio: null, name: null }
    expect(parseTranscript(`\ufeff${JSON.stringify([message])}`, 'x.json')).toMatchObject({
      answers: [{ blocks: [text('hi')] }],
      model: undefined,
    })
  })

  it.each([
    ['no content, but calls', says(null, call('c')), [{ type: 'tool-call', id: 'c', name: 'look', arguments: '{}' }]],
    ['no content at all', { role: 'assistant' }, []],
    [
      'parts',
      says([
        { type: 'text', text: 'a' },
        { type: 'refusal', refusal: 'b' },
      ]),
      [text('a'), text('b')],
    ],
    ['a refusal', { role: 'assistant', content: null, refusal: 'I will not' }, [text('I will not')]],
    [
      'reasoning beside the content',
      { role: 'assistant', content: 'a', reasoning_content: 'hm' },
      [{ type: 'reasoning', text: 'hm' }, text('a')],
    ],
    [
      'a custom tool call',
      says(null, { id: 'c', type: 'custom', custom: { name: 'sh', input: 'ls -l' } }),
      [{ type: 'tool-call', id: 'c', name: 'sh', arguments: 'ls -l' }],
    ],
    [
      'a call without an id or a type',
      says(null, { function: { name: 'look', arguments: '' } }),
      [{ type: 'tool-call', id: 'recorded_1', name: 'look', arguments: '' }],
    ],
  ])('may have an assistant message with %s', (_, message, blocks) => {
    expect(read(message).answers[0]?.blocks).toEqual(blocks)
  })

  it('may be of the time before tools, when one function was called by name', () => {
    const transcript = read(
      { role: 'assistant', content: null, function_call: { name: 'look', arguments: '{}' } },
      { role: 'function', name: 'look', content: 'one' },
      { role: 'assistant', content: null, function_call: { name: 'look', arguments: '{}' } },
      { role: 'function', name: 'look', content: 'two' },
    )
    expect(transcript.answers.map(({ calls }) => calls[0])).toEqual([
      { id: 'recorded_1', name: 'look', arguments: '{}', result: 'one' },
      { id: 'recorded_2', name: 'look', arguments: '{}', result: 'two' },
    ])
  })

  it('may use one id again and again: a result belongs to the latest answer that has such a call', () => {
    const transcript = read(
      says(null, call('c')),
      says(null, call('c'), call('c')),
      gives('c', 'a'),
      gives('c', 'b'),
      says(null, call('c')),
      gives('c', 'd'),
    )
    expect(transcript.answers.map(({ calls }) => calls.map(({ result }) => result))).toEqual([[undefined], ['a', 'b'], ['d']])
  })

  it('names media instead of showing it', () => {
    const parts = [
      { type: 'text', text: 'see' },
      { type: 'image_url', image_url: { url: 'data:…' } },
      { type: 'input_audio' },
      { type: 'file' },
    ]
    expect(read(hears(parts)).inputs[0]?.[0]?.content).toEqual(
      ['see', '[image_url left out]', '[input_audio left out]', '[file left out]'].map(text),
    )
  })

  it('joins two answers with nothing between them, unless the first one made calls', () => {
    const transcript = read(hears('go'), says('let me see'), says(null, call('c')), says('done'))
    expect(transcript.answers.map(({ blocks }) => blocks.length)).toEqual([2, 1])
    expect(transcript.inputs.map((inputs) => inputs.length)).toEqual([1, 0, 0])
  })
})

describe('a transcript of another shape', () => {
  it.each([
    [{ messages: {} }, 'x.json: messages: expected an array of messages, got an object with no keys'],
    [{ messages: [] }, 'x.json: expected at least one message, got none'],
    [{ messages: ['hi'] }, 'x.json: messages[0]: expected an object, got "hi"'],
    [
      { messages: [{ content: 'hi' }] },
      'x.json: messages[0].role: expected "system", "developer", "user", "assistant", "tool" or "function", got nothing',
    ],
    [[hears(null)], 'x.json: messages[0].content: expected text or an array of parts, got null'],
    [
      [hears([{ type: 'video' }])],
      'x.json: messages[0].content[0].type: expected "text", "refusal", "image_url", "input_audio" or "file", got "video"',
    ],
    [[hears([{ type: 'text' }])], 'x.json: messages[0].content[0].text: expected text, got nothing'],
    [
      [hears('x'), says(null, { id: 'c', type: 'function', function: { name: 7 } })],
      'x.json: messages[1].tool_calls[0].function.name: expected the name of a tool, got 7',
    ],
    [
      [says(null, { id: 'c', function: { name: ' ', arguments: '{}' } })],
      'messages[0].tool_calls[0].function.name: expected the name of a tool, got " "',
    ],
    [
      [says(null, { id: 'c', function: { name: 'a', arguments: 7 } })],
      'messages[0].tool_calls[0].function.arguments: expected the JSON text of the arguments, got 7',
    ],
    [[says(null, { id: 'c', type: 'fn' })], 'messages[0].tool_calls[0].type: expected "function" or "custom", got "fn"'],
    [[says(null, { id: 7, function: { name: 'a', arguments: '' } })], 'messages[0].tool_calls[0].id: expected text, got 7'],
    [[{ role: 'assistant', tool_calls: 'x' }], 'messages[0].tool_calls: expected an array of tool calls or null, got "x"'],
    [[gives('c', 'x')], 'x.json: messages[0].tool_call_id: expected the id of an earlier tool call that has no result yet, got "c"'],
    [
      [says(null, call('c')), gives('c', 'x'), gives('c', 'y')],
      'messages[2].tool_call_id: expected the id of an earlier tool call that has no result yet, got "c"',
    ],
    [[hears('x'), { role: 'tool', content: 'x' }], 'messages[1].tool_call_id: expected the id of a tool call, got nothing'],
    [[says(null, call('c')), gives('c', 7)], 'messages[1].content: expected text or an array of parts, got 7'],
    [
      [{ role: 'function', name: 'f', content: '' }],
      'messages[0].name: expected the name of an earlier function call that has no result yet, got "f"',
    ],
  ])('is refused with the path, what was expected and what is there: %j', (json, expected) => {
    expect(faultOf(json)).toContain(expected)
  })
})

describe('a transcript that is no JSON', () => {
  it.each([
    ['', 'x.json:1:1: not JSON: expected a value, got the end of the file'],
    ['[\n  {"role": "user",}\n]', 'x.json:2:19: not JSON: expected a key in double quotes, got "}\\n]"'],
    ['[1 2]', 'x.json:1:4: not JSON: expected `,` or `]`, got "2]"'],
    ['[1,]', 'x.json:1:4: not JSON: expected a value, got "]"'],
    ['{"a" 1}', 'x.json:1:6: not JSON: expected `:`, got "1}"'],
    ['{a: 1}', 'x.json:1:2: not JSON: expected a key in double quotes or `}`, got "a: 1}"'],
    ['["a\nb"]', 'x.json:1:4: not JSON: expected a character, an escape or the closing quote of a string'],
    ['["open', 'x.json:1:7: not JSON: expected a character, an escape or the closing quote of a string, got the end of the file'],
    ['{"role":"user"} {"role":"user"}', 'x.json:1:17: not JSON: expected the end of the file'],
    ['{"role":"user"}\n{"role":}\n{}', 'x.json:2:9: not JSON: expected a value, got "}"'],
  ])('is refused with line and column: %j', (json, expected) => {
    expect(faultOf(json)).toContain(expected)
  })

  it('is found exactly when JSON.parse finds it, whatever was cut or put in', () => {
    const damaged = fc
      .tuple(fc.jsonValue(), fc.nat(), fc.constantFrom('', ',', '"', '\\', '}', ']', '0', '.', '-', 'e', '\n', '\u0001', 'tru'))
      .map(([value, place, extra]) => {
        const json = JSON.stringify(value)
        const at = place % (json.length + 1)
        return json.slice(0, at) + extra + json.slice(at + (place % 3))
      })
    fc.assert(
      fc.property(damaged, (json) => {
        let valid = true
        try {
          JSON.parse(json)
        } catch {
          valid = false
        }
        expect(findJsonFault(json) === undefined).toBe(valid)
      }),
      { numRuns: 500 },
    )
  })

  it('may be nested without limit, and hold strings of any length', () => {
    expect(findJsonFault(`${'['.repeat(200_000)}${']'.repeat(200_000)}`)).toBeUndefined()
    expect(findJsonFault(`"${'x\\n'.repeat(2_000_000)}"`)).toBeUndefined()
  })

  it('may be a file that is not there', () => {
    expect(() => readTranscript('/nowhere/x.json')).toThrow('/nowhere/x.json: cannot be read: ENOENT')
  })
})
