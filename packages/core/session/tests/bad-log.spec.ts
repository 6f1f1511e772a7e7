import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { codeThrownBy, rejectionOf, storeIn, storyOf, tempDir } from './support.ts'

const start = '{"seq":0,"time":1,"type":"session/start","data":{"version":1,"id":"a"}}'
const turn = '{"seq":1,"time":2,"type":"turn/start","data":{"turn":1}}'

async function load(content: string | Uint8Array): Promise<{ directory: string; loading: Promise<unknown> }> {
  const directory = tempDir()
  writeFileSync(join(directory, 'a.jsonl'), content)
  const store = await storeIn(directory)
  return { directory, loading: store.load('a') }
}

const bad: [string, string[], number, string][] = [
  ['text that is no JSON', [start, 'not JSON'], 2, 'JSON'],
  ['half an event', [start, turn.slice(0, 20), turn], 2, 'JSON'],
  ['an empty line', [start, '', turn], 2, 'JSON'],
  ['two events on one line', [start, turn + turn], 2, 'JSON'],
  ['null', [start, 'null'], 2, 'it holds no event'],
  ['a list', [start, '[]'], 2, 'it holds no event'],
  ['a gap in seq', [start, turn.replace('"seq":1', '"seq":2')], 2, 'seq is 2, expected 1'],
  ['a repeated line', [start, turn, turn], 3, 'seq is 1, expected 2'],
  ['no seq', [start, turn.replace('"seq":1,', '')], 2, 'seq is undefined, expected 1'],
  ['a seq that is text', [start, turn.replace('"seq":1', '"seq":"1"')], 2, 'seq is "1", expected 1'],
  ['no time', [start, turn.replace('"time":2,', '')], 2, 'time is undefined, expected a number'],
  ['a time that is text', [start, turn.replace('"time":2', '"time":"2"')], 2, 'time is "2", expected a number'],
  ['no type', [start, turn.replace('"type":"turn/start",', '')], 2, 'type is undefined, expected text'],
  ['a type that is a number', [start, turn.replace('"turn/start"', '7')], 2, 'type is 7, expected text'],
  ['no data', [start, turn.replace(',"data":{"turn":1}', '')], 2, 'data is missing'],
  [
    'data that the type cannot have',
    [start, turn.replace('{"turn":1}', '{"turn":"one"}')],
    2,
    'data.turn must be an integer >= 1, got "one"',
  ],
  ['a number that is out of range', [start, turn.replace('{"turn":1}', '{"turn":1,"x":1e999}')], 2, 'event.data.x is Infinity'],
  ['another first event', [turn.replace('"seq":1', '"seq":0')], 1, 'the first event must be session/start'],
  ['a second session/start', [start, start.replace('"seq":0', '"seq":1')], 2, 'session/start must come first'],
  ['a higher version', [start.replace('"version":1', '"version":2')], 1, 'the log is of version 2, and this package reads up to 1'],
  ['a higher version of another shape', ['{"seq":0,"time":1,"type":"session/start","data":{"version":9}}'], 1, 'the log is of version 9'],
  ['no version', [start.replace('"version":1,', '')], 1, 'data.version must be an integer >= 1, got undefined'],
  ['version 0', [start.replace('"version":1', '"version":0')], 1, 'data.version must be an integer >= 1, got 0'],
  ['start data that is null', [start.replace('{"version":1,"id":"a"}', 'null')], 1, 'data must be an object, got null'],
  ['the id of another session', [start.replace('"id":"a"', '"id":"b"')], 1, 'the log is that of session "b", not of "a"'],
  ['a byte order mark', [`\ufeff${start}`], 1, 'JSON'],
]

it.each(bad)('%s: BAD_LOG names file and line, and nothing is changed', async (_what, lines, line, why) => {
  const content = lines.map((text) => `${text}\n`).join('')
  const { directory, loading } = await load(content)
  const error = await rejectionOf(loading)
  expect([error.code, error.message]).toEqual(['BAD_LOG', expect.stringContaining(why)])
  expect(error.message.startsWith(`${join(directory, 'a.jsonl')}:${line}: `)).toBe(true)
  expect([readFileSync(join(directory, 'a.jsonl'), 'utf8'), readdirSync(directory)]).toEqual([content, ['a.jsonl']])
})

it('bytes that are no UTF-8 are BAD_LOG, never replaced', async () => {
  const line = Buffer.from('{"seq":1,"time":2,"type":"test/note","data":"?"}\n')
  line[line.indexOf('?')] = 0xff
  const error = await rejectionOf((await load(Buffer.concat([Buffer.from(`${start}\n`), line]))).loading)
  expect([error.code, error.message]).toEqual(['BAD_LOG', expect.stringContaining('a.jsonl:2: ')])
})

it('a torn last line is dropped whatever it holds, and a bad line before it is still bad', async () => {
  const store = async (content: string): Promise<unknown> => (await load(content)).loading.then((session) => storyOf(session as never))
  expect(await store(`${start}\n${turn}\n\0\0\0`)).toEqual([
    ['turn/start', { turn: 1 }],
    ['turn/end', { turn: 1, reason: { kind: 'interrupted' } }],
  ])
  await expect(store(`${start}\nbad\n{"seq":2`)).rejects.toMatchObject({ code: 'BAD_LOG' })
})

it('line ends of another system, and fields of a newer writer, do no harm', async () => {
  const note = '{"seq":1,"time":2,"type":"newer/thing","data":{"x":1},"more":true}'
  const session = (await (await load(`${start}\r\n${note}\r\n`)).loading) as { events: unknown[] }
  expect(session.events[1]).toEqual(JSON.parse(note))
})

it.each([
  ['a folder', (path: string) => mkdirSync(path)],
  ['a pipe', (path: string) => execFileSync('mkfifo', [path])],
  ['an endless device', (path: string) => symlinkSync('/dev/zero', path)],
])('%s in the place of the log is BAD_LOG, and nobody waits for it', async (_what, make) => {
  const directory = tempDir()
  const store = await storeIn(directory)
  make(join(directory, 'a.jsonl'))
  const error = await rejectionOf(store.load('a'))
  expect([error.code, error.message]).toEqual(['BAD_LOG', `${join(directory, 'a.jsonl')}:1: it is no regular file`])
  expect(codeThrownBy(() => store.create('a'))).toBe('SESSION_EXISTS')
  expect(readdirSync(directory)).toEqual(['a.jsonl'])
})
