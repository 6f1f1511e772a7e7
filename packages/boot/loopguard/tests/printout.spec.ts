import { describe, expect, it } from 'vitest'
import { CallBook } from '../src/show/call-book.ts'
import { blockingLimit } from '../src/show/limits.ts'
import type { LogEvent } from '../src/show/log-events.ts'
import { styleOf } from '../src/show/terminal.ts'
import * as width from '../src/show/width.ts'
import { Printout } from '../src/show/printout.ts'

const block = (text: string): { type: string; text: string } => ({ type: 'text', text })
const user = (text: string): LogEvent => ({ type: 'user/message', data: { id: 'm', content: [block(text)], source: { kind: 'user' } } })
const result = (text: string, code?: string): LogEvent => ({
  type: 'tool/result',
  data: {
    turn: 1,
    step: 1,
    message: {
      id: 'r',
      content: [{ type: 'tool-result', toolCallId: 'c1', content: [block(text)], isError: code !== undefined }],
      source: { kind: 'tool' },
    },
    ...(code !== undefined && code !== '' && { error: { name: 'E', code } }),
  },
})
const turn = (reason: { kind: string; reason?: { kind: string; limit?: string } }): LogEvent => ({
  type: 'turn/end',
  data: { turn: 2, reason },
})

function rendered(isTTY: boolean, ...events: readonly LogEvent[]): string {
  const printout = new Printout(styleOf({ isTTY }, { NO_COLOR: '1' }), new CallBook(), isTTY ? width : undefined)
  printout.render('a', { type: 'turn/start', data: { turn: 1 } })
  return events.map((event) => printout.render('a', event)).join('')
}

describe('in a pipe', () => {
  it('text that the model reads is whole, unwrapped and unchanged, however long and strange', () => {
    const long = `${'x'.repeat(10_000)}\n${'line\n'.repeat(100)}\u001b[2J`
    expect(rendered(false, user(long), result(long))).toBe(`user:\n${long}\nresult [c1]:\n${long}\n`)
  })

  it('one line stands behind its label, several stand below it', () => {
    expect(rendered(false, user('one'), user('one\ntwo'))).toBe('user: one\nuser:\none\ntwo\n')
  })
})

describe('on a terminal', () => {
  it('text is indented below its label, and short text stands beside a short label', () => {
    expect(rendered(true, user('one'), user('one\ntwo'), result('ok'))).toBe(
      '  user      one\n  user\n    one\n    two\n  result [c1]\n    ok\n',
    )
  })

  it('control characters are spelled out, in names and ids too', () => {
    const call: LogEvent = {
      type: 'tool/call',
      data: { turn: 1, step: 1, callId: '\u001b[1m', name: 'a\u0007b\nc', arguments: '"\u009b"' },
    }
    const heading: LogEvent = {
      type: 'user/message',
      data: { id: 'm', content: [block('x')], source: { kind: 'plugin', plugin: 'p\n\u001b' } },
    }
    expect(rendered(true, call, heading)).toBe(
      String.raw`  call` +
        '\n' +
        String.raw`    a\x07b` +
        '\n' +
        String.raw`    c "\x9b" [\x1b[1m]` +
        '\n' +
        String.raw`  plugin p\n\x1b` +
        '\n    x\n',
    )
  })

  it('long text is cut, at a whole character, and says how much is missing', () => {
    expect(rendered(true, result('line\n'.repeat(40).trimEnd()))).toMatch(
      /\n {4}line\n {4}… \(50 more characters; piped, the output is whole\)\n$/,
    )
    const emoji = rendered(true, result(`x${'😀'.repeat(3000)}`))
    expect(emoji).not.toMatch(/\p{Surrogate}/u)
    expect(emoji).toContain('… (2002 more characters')
  })
})

describe('what happened', () => {
  it.each([
    [result('Error: tool call timed out after 5ms', 'TOOL_TIMEOUT'), 'TIMEOUT [c1]: Error: tool call timed out after 5ms\n'],
    [result('Error: no', 'DENIED'), 'error [c1] DENIED: Error: no\n'],
    [result('Error: no', ''), 'error [c1]: Error: no\n'],
    [turn({ kind: 'completed' }), '== turn 2 ended: completed\n'],
    [turn({ kind: 'aborted', reason: { kind: 'user' } }), '== turn 2 ended: aborted (user)\n'],
    [turn({ kind: 'aborted', reason: { kind: 'budget', limit: 'maxTurnMs' } }), '== turn 2 ended: aborted (budget.maxTurnMs)\n'],
    [turn({ kind: 'blocked' }), '== turn 2 ended: blocked\n'],
    [
      { type: 'budget/reached', data: { turn: 1, step: 3, limit: 'maxStepsPerTurn', value: 2 } },
      'LIMIT: budget.maxStepsPerTurn (2) is reached\n',
    ],
    [
      {
        type: 'assistant/message',
        data: {
          turn: 1,
          step: 1,
          interrupted: true,
          message: {
            id: 'a',
            content: [{ type: 'reasoning', text: 'hm' }, block('Well'), { type: 'tool-call', id: 'c1' }],
            source: { kind: 'model' },
          },
        },
      },
      'reasoning (interrupted): hm\nmodel (interrupted): Well\n',
    ],
    [{ type: 'request/header', data: { provider: 'p', model: 'm' } }, 'asks: p/m\n'],
    [
      { type: 'user/message', data: { id: 'm', content: [block('psst')], source: { kind: 'plugin', plugin: 'other' } } },
      'plugin other: psst\n',
    ],
    [{ type: 'session/start', data: {} } as unknown as LogEvent, ''],
    [{ type: 'made/up', data: {} } as unknown as LogEvent, ''],
  ] satisfies [LogEvent, string][])('is named: %j', (event, expected) => {
    expect(rendered(false, event)).toBe(expected)
  })

  it('is a limit that kept a turn from its next step: one of this turn, or one of the agent, but none of calls', () => {
    const reached = (limit: string, at: number): LogEvent => ({ type: 'budget/reached', data: { turn: at, step: 1, limit, value: 2 } })
    const end = turn({ kind: 'blocked' })
    const shown = (...log: readonly LogEvent[]): string => {
      const text = new Printout(styleOf({}, {}), new CallBook(), undefined).render('a', end, blockingLimit(log, 2))
      return text.slice(text.indexOf('ended: ') + 'ended: '.length).trimEnd()
    }
    expect(shown(reached('maxStepsPerTurn', 1))).toBe('blocked')
    expect(shown(reached('maxStepsPerTurn', 1), reached('maxTurnMs', 2), user('hi'))).toBe('blocked (budget.maxTurnMs)')
    expect(shown(reached('maxTokensPerAgent', 1), reached('maxStepsPerTurn', 1))).toBe('blocked (budget.maxTokensPerAgent)')
    expect(shown(reached('maxAgentMs', 1))).toBe('blocked (budget.maxAgentMs)')
    expect(shown(reached('maxCallsPerAgent', 2), reached('maxCallsPerTurn', 2), reached('maxEqualCalls', 2))).toBe('blocked')
  })

  it('is attributed to its agent when another one has spoken in between', () => {
    const printout = new Printout(styleOf({}, {}), new CallBook(), undefined)
    const start: LogEvent = { type: 'turn/start', data: { turn: 1 } }
    const text = [
      printout.render('a', start),
      printout.render('b', start),
      printout.render('a', user('one')),
      printout.render('a', user('two')),
    ].join('')
    expect(text).toBe('== a, turn 1\n== b, turn 1\n== a, continued\nuser: one\nuser: two\n')
  })
})

describe('children and goals', () => {
  it('a child says whose it is, and a message who has sent it; a goal what has become of it', () => {
    const from = (source: { kind: string; agent?: string; goalId?: string; plugin?: string }): LogEvent => ({
      type: 'user/message',
      data: { id: 'm', content: [block('go')], source },
    })
    const events: LogEvent[] = [
      { type: 'subagent/start', data: { parent: 'main', depth: 1, callId: 'call_1' } },
      { type: 'subagent/start', data: { parent: 'main', depth: 2 } },
      from({ kind: 'agent', agent: 'main' }),
      from({ kind: 'goal', goalId: 'goal-1' }),
      from({ kind: 'plugin', plugin: 'jobs' }),
      from({ kind: 'other' }),
      { type: 'goal/create', data: { id: 'goal-1', objective: 'tidy up', maxRounds: 3 } },
      { type: 'goal/update', data: { id: 'goal-1', phase: 'blocked', reason: 'round-limit' } },
      { type: 'goal/update', data: { id: 'goal-1', phase: 'active' } },
    ]
    expect(rendered(false, ...events).split('\n')).toEqual([
      '== a, child of main, depth 1 [call_1]',
      '== a, child of main, depth 2',
      'agent main: go',
      'goal goal-1: go',
      'plugin jobs: go',
      'other: go',
      'goal: goal-1 is set, 3 rounds at most: tidy up',
      'goal: goal-1 is blocked: round-limit',
      'goal: goal-1 is active',
      '',
    ])
  })

  it('a child that begins while another agent speaks needs no other heading', () => {
    const printout = new Printout(styleOf({ isTTY: false }, { NO_COLOR: '1' }), new CallBook(), undefined)
    const turnStart: LogEvent = { type: 'turn/start', data: { turn: 1 } }
    const child: LogEvent = { type: 'subagent/start', data: { parent: 'main', depth: 1 } }
    const text = [printout.render('main', turnStart), printout.render('main.1', child), printout.render('main', user('x'))].join('')
    expect(text).toBe('== main, turn 1\n== main.1, child of main, depth 1\n== main, continued\nuser: x\n')
  })
})

describe('a failed request', () => {
  const failed = (code: string, status?: number): LogEvent =>
    ({
      type: 'request/failed',
      data: {
        turn: 1,
        step: 1,
        attempt: 1,
        failure: { message: 'no', code, ...(status !== undefined && { status }) },
        text: 'What it had said',
      },
    }) as LogEvent
  const retry = (delayMs: number, n = 1): LogEvent => ({
    type: 'request/retry',
    data: { turn: 1, step: 1, retry: n, maxRetries: 5, delayMs },
  })

  it('is told with the wait and the count, in one line, and without what it had said', () => {
    expect(rendered(false, failed('RATE_LIMIT', 429), retry(1234), failed('STREAM_CLOSED'), retry(40, 2), user('x'))).toBe(
      'request failed: RATE_LIMIT 429 (trying again in 1.2 s, 1 of 5)\nrequest failed: STREAM_CLOSED (trying again in 40 ms, 2 of 5)\nuser: x\n',
    )
  })

  it('that is not tried again is told before what follows', () => {
    expect(rendered(false, failed('AUTH', 401), turn({ kind: 'error' }))).toBe('request failed: AUTH 401\n== turn 2 ended: error\n')
    expect(rendered(false, failed('SERVER', 500), failed('SERVER', 503), retry(500))).toBe(
      'request failed: SERVER 500\nrequest failed: SERVER 503 (trying again in 0.5 s, 1 of 5)\n',
    )
  })

  it('of one agent is not told as the other’s', () => {
    const printout = new Printout(styleOf({ isTTY: false }, { NO_COLOR: '1' }), new CallBook(), undefined)
    const shown = [printout.render('a', failed('SERVER', 500)), printout.render('b', user('hi')), printout.render('a', retry(500))].join('')
    expect(shown).toBe('== b, continued\nuser: hi\n== a, continued\nrequest failed: SERVER 500 (trying again in 0.5 s, 1 of 5)\n')
  })
})
