import { expect, it } from 'vitest'
import { Asking } from '../src/chat/asking.ts'
import type { LogEvent } from '../src/show/log-events.ts'
import { styleOf } from '../src/show/terminal.ts'

/** A line editor, and what is printed. */
function stage() {
  const screen = {
    lines: [] as string[],
    typed: '',
    begin: () => {},
    update: () => {},
    print: (...lines: readonly string[]) => void screen.lines.push(...lines),
    takeLine: () => {
      const { typed } = screen
      screen.typed = ''
      return typed
    },
    putLine: (line: string) => void (screen.typed += line),
  }
  const asking = new Asking({ screen, style: styleOf({ columns: 60 }, {}), own: 'a' })
  const ask = (callId: string, agent = 'a', signal = new AbortController().signal) =>
    asking.questions.request({ agent: { id: agent }, toolName: 'erase', callId, reason: 'for good', signal })
  return { screen, asking, ask }
}

const wants = (...calls: readonly [id: string, args: string][]): LogEvent =>
  ({
    type: 'assistant/message',
    data: {
      message: {
        id: 'm',
        content: calls.map(([id, args]) => ({ type: 'tool-call', id, name: 'erase', arguments: args })),
        source: { kind: 'model' },
      },
    },
  }) as unknown as LogEvent

it('shows the whole call, of whatever length, and nothing that could rewrite the screen', () => {
  const { screen, asking, ask } = stage()
  asking.note('a', wants(['c1', `{"path":"${'long '.repeat(100)}\u001b[2J"}`], ['c2', '{}']))
  void ask('c1')
  const shown = screen.lines.join(' ')
  expect(shown.match(/long/g)).toHaveLength(100)
  expect(shown).toContain(String.raw`\x1b[2J"}? for good`)
  expect(Math.max(...screen.lines.map((line) => line.length))).toBeLessThan(60)
})

it('shows all arguments that it may be about when the model has given one id to several calls, and whose call it is', () => {
  const { screen, asking, ask } = stage()
  asking.note('a.1', wants(['c', '{"p":1}'], ['c', '{"p":2}'], ['c', '{"p":1}']))
  void ask('c', 'a.1')
  expect(screen.lines).toEqual(['[a.1] allow erase {"p":1} or {"p":2}? for good'])
})

it('puts the draft aside until nothing is asked, and leaves no half of an answer to the next question', async () => {
  const { screen, asking, ask } = stage()
  screen.typed = 'a draft'
  const controller = new AbortController()
  const first = ask('c1', 'a', controller.signal)
  const second = ask('c2')
  expect(screen.typed).toBe('')
  const { question } = asking
  screen.typed = 'y'
  controller.abort()
  expect(await first).toBe('cancelled')
  expect(screen.typed).toBe('')
  asking.answer('y', question)
  expect(screen.lines.at(-1)).toBe('this is no longer asked')
  asking.answer('perhaps', asking.question)
  asking.answer('yes', asking.question)
  expect(await second).toBe('allowed-once')
  expect(screen.typed).toBe('a draft')
  expect(asking.question).toBeUndefined()
})
