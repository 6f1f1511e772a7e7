import { setImmediate as tick } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { captured } from '../src/chat/captured.ts'
import { answerIn, type ApprovalRequest, Questions } from '../src/chat/questions.ts'
import { completed, readLine } from '../src/chat/slash.ts'
import { StreamedText } from '../src/chat/streamed-text.ts'
import type { TerminalStream } from '../src/live/bottom-line.ts'

describe('text that comes in pieces', () => {
  it('becomes lines as soon as they cannot change, in whatever pieces it comes', () => {
    const text = 'The quick brown fox jumps over the lazy dog.\n\n    indented\nend'
    const inPieces = (size: number): string[] => {
      const streamed = new StreamedText(() => 20)
      const lines: string[] = []
      for (let at = 0; at < text.length; at += size) lines.push(...streamed.add(text.slice(at, at + size)))
      return [...lines, ...streamed.end()]
    }
    const whole = ['The quick brown fox', 'jumps over the lazy', 'dog.', '', '    indented', 'end']
    for (const size of [1, 2, 3, 7, 1000]) expect(inPieces(size)).toEqual(whole)
  })

  it('knows whether something has come, and is safe', () => {
    const streamed = new StreamedText(() => 80)
    expect(streamed.add('')).toEqual([])
    expect([streamed.hasText, streamed.end()]).toEqual([false, []])
    streamed.add('\u001b[2J\r')
    expect([streamed.hasText, streamed.rest]).toEqual([true, String.raw`\x1b[2J\x0d`])
    streamed.end()
    expect(streamed.hasText).toBe(false)
  })
})

describe('questions', () => {
  const ask = (signal = new AbortController().signal): ApprovalRequest => ({
    agent: { id: 'a' },
    toolName: 't',
    callId: 'c',
    reason: undefined,
    signal,
  })

  it('are asked one after the other', async () => {
    const seen: (string | undefined)[] = []
    const questions: Questions = new Questions(() => seen.push(questions.first?.toolName))
    const answers = [questions.request({ ...ask(), toolName: 'one' }), questions.request({ ...ask(), toolName: 'two' })]
    questions.answer('allowed-once')
    questions.answer('rejected')
    questions.answer('rejected')
    expect(await Promise.all(answers)).toEqual(['allowed-once', 'rejected'])
    expect(seen).toEqual(['one', 'two', undefined])
  })

  it('are over when the call is cancelled, and nothing of them is left', async () => {
    const controller = new AbortController()
    const remove = vi.spyOn(controller.signal, 'removeEventListener')
    const questions = new Questions(() => {})
    const answers = [questions.request(ask()), questions.request(ask(controller.signal))]
    controller.abort()
    questions.answer('rejected')
    expect(await Promise.all(answers)).toEqual(['rejected', 'cancelled'])
    expect(remove).toHaveBeenCalledTimes(1)
    expect(await questions.request(ask(controller.signal))).toBe('cancelled')
  })

  it('cannot be answered when nobody is there any more', async () => {
    const questions = new Questions(() => {})
    const open = [questions.request(ask()), questions.request(ask())]
    questions.close()
    expect(await Promise.all([...open, questions.request(ask())])).toEqual(['unavailable', 'unavailable', 'unavailable'])
  })

  it.each([
    ['y', 'allowed-once'],
    [' YES ', 'allowed-once'],
    ['n', 'rejected'],
    ['no', 'rejected'],
    ['', 'rejected'],
    ['yes, please', undefined],
    ['1', undefined],
  ])('%j means %s', (line, expected) => {
    expect(answerIn(line)).toBe(expected)
  })
})

it.each([
  ['hello /there', { say: 'hello /there' }],
  ['/queue ', { command: 'queue' }],
  ['//etc', { say: '/etc' }],
  ['   ', undefined],
])('the line %j is %j', (line, expected) => {
  expect(readLine(line)).toEqual(expected)
})

it('commands are completed, words are not', () => {
  expect([completed('/q', ['queue', 'quit', 'help']), completed('q', ['queue'])]).toEqual([
    [['/queue', '/quit'], '/q'],
    [[], 'q'],
  ])
})

it('what others write comes line by line, in whatever pieces, and the stream is as it was afterwards', async () => {
  const stream = new (class {
    written = ''
    write(text: string): boolean {
      this.written += text
      return true
    }
  })()
  const lines: string[] = []
  const done = vi.fn<() => void>()
  const restore = captured([stream as unknown as TerminalStream], (line) => lines.push(line))
  stream.write('one\ntw')
  ;(stream.write as unknown as (chunk: Uint8Array, encoding: string, done: () => void) => boolean)(Buffer.from('o\nthr'), 'utf8', done)
  restore()
  expect([lines, stream.written, Object.hasOwn(stream, 'write')]).toEqual([['one', 'two'], 'thr\n', false])
  await tick()
  expect(done).toHaveBeenCalledTimes(1)
})
