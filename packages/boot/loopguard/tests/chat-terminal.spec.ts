import { setImmediate as tick } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Display } from '../src/chat/display.ts'
import { editorRows } from '../src/chat/editor-rows.ts'
import { Region } from '../src/chat/region.ts'
import { type Device, TerminalOutput } from '../src/chat/terminal-output.ts'

/** A terminal that takes so many bytes at a time; `undefined` for none, an error for one that is gone. */
class FakeDevice implements Device {
  taken = ''
  room: number | Error | undefined = Number.POSITIVE_INFINITY
  closed = 0
  write(bytes: Uint8Array): number {
    if (this.room instanceof Error) throw this.room
    if (this.room === undefined) throw Object.assign(new Error('again'), { code: 'EAGAIN' })
    const part = bytes.subarray(0, this.room)
    this.taken += Buffer.from(part).toString()
    return part.length
  }
  close(): void {
    this.closed++
  }
}

describe('the output', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
  afterEach(() => void vi.useRealTimers())

  it('takes what the terminal takes, waits for the rest, and says when it is done', () => {
    const device = new FakeDevice()
    const output = new TerminalOutput(device)
    const drained = vi.fn<() => void>()
    output.onDrain = drained
    device.room = 2
    output.write('abcdef')
    expect([device.taken, output.isBusy, drained.mock.calls.length]).toEqual(['abcdef', false, 0])
    device.room = undefined
    output.write('ghi')
    vi.advanceTimersByTime(10_000)
    expect([device.taken, output.isBusy]).toEqual(['abcdef', true])
    device.room = 9
    vi.advanceTimersByTime(20)
    expect([device.taken, output.isBusy, drained.mock.calls.length]).toEqual(['abcdefghi', false, 1])
  })

  it('says once that the terminal is gone, and takes nothing more', () => {
    const device = new FakeDevice()
    const output = new TerminalOutput(device)
    const gone = vi.fn<() => void>()
    output.onGone = gone
    device.room = Object.assign(new Error('gone'), { code: 'EIO' })
    output.write('a')
    output.write('b')
    expect([output.isBusy, gone.mock.calls.length]).toEqual([false, 1])
  })

  it('forgets what waits when it is closed', () => {
    const device = new FakeDevice()
    const output = new TerminalOutput(device)
    device.room = undefined
    output.write('a')
    output.close()
    device.room = 9
    vi.advanceTimersByTime(1000)
    expect([device.taken, output.isBusy, device.closed]).toEqual(['', false, 1])
  })
})

describe('the display', () => {
  const ROW = '\u001b[?7l> \u001b[?7h\r\u001b[2C'
  const rows = () => ({ rows: ['> '], row: 0, column: 2 })

  it('draws what has come until then in one piece, above the rows', async () => {
    const device = new FakeDevice()
    const display = new Display(new TerminalOutput(device), rows)
    display.print('one', 'two')
    display.print('three')
    expect(device.taken).toBe('')
    await tick()
    expect(device.taken).toBe(`one\ntwo\nthree\n${ROW}`)
    display.print('four')
    display.flush()
    await tick()
    expect(device.taken).toBe(`one\ntwo\nthree\n${ROW}\r\u001b[Jfour\n${ROW}`)
    display.end()
    display.print('five')
    await tick()
    expect(device.taken.endsWith('\r\u001b[J')).toBe(true)
  })

  it('waits while the terminal takes nothing, then draws the last state alone', () => {
    vi.useFakeTimers()
    try {
      const device = new FakeDevice()
      let state = 0
      const display = new Display(new TerminalOutput(device), () => ({ rows: [`state ${++state}`], row: 0, column: 0 }))
      device.room = undefined
      display.flush()
      for (let line = 0; line < 5; line++) {
        display.print(`line ${line}`)
        vi.advanceTimersByTime(1000)
      }
      expect(state).toBe(1)
      device.room = Number.POSITIVE_INFINITY
      vi.advanceTimersByTime(100)
      expect(device.taken.match(/line \d/g)).toHaveLength(5)
      expect(state).toBe(2)
    } finally {
      vi.useRealTimers()
    }
  })

  it('drops the oldest of what is too much, and says how much that was', () => {
    const device = new FakeDevice()
    const display = new Display(new TerminalOutput(device), rows)
    for (let line = 0; line < 12; line++) display.print(`${line}:${'x'.repeat(100_000)}`)
    display.flush()
    expect(device.taken.startsWith('… 3 lines are not shown: the terminal did not read\n3:x')).toBe(true)
  })

  it('draws nothing while it is paused', async () => {
    const device = new FakeDevice()
    const display = new Display(new TerminalOutput(device), rows)
    display.flush()
    display.pause()
    display.print('later')
    await tick()
    expect(device.taken).toBe(`${ROW}\r\u001b[J`)
    display.resume()
    expect(device.taken).toBe(`${ROW}\r\u001b[Jlater\n${ROW}`)
  })
})

it('a region is taken away from its first row on, wherever in it the cursor is', () => {
  const region = new Region()
  expect(region.erase()).toBe('')
  expect(region.draw({ rows: ['a', 'b', 'c'], row: 1, column: 3 })).toBe('\u001b[?7la\nb\nc\u001b[?7h\r\u001b[1A\u001b[3C')
  expect(region.erase()).toBe('\u001b[1A\r\u001b[J')
  expect(region.erase()).toBe('')
})

describe('the rows of what is typed', () => {
  const draft = (line: string, cursor = line.length) => ({ prompt: '> ', line, cursor })

  it.each([
    ['one row', draft('hello', 2), 20, 5, { rows: ['> hello'], row: 0, column: 4 }],
    ['as many as it takes', draft('abcdefghijkl', 12), 8, 5, { rows: ['> abcde', 'fghijkl'], row: 1, column: 7 }],
    ['wide characters whole', draft('漢字漢字', 1), 8, 5, { rows: ['> 漢字', '漢字'], row: 0, column: 4 }],
    [
      'those around the cursor',
      draft('abcdefghijklmnopqrstuvw', 23),
      8,
      2,
      { rows: ['mnopqrs', 'tuvw'].map((row) => row), row: 1, column: 4 },
    ],
    [
      'those around the cursor at the start',
      draft('abcdefghijklmnopqrstuvw', 0),
      8,
      2,
      { rows: ['> abcde', 'fghijkl'], row: 0, column: 2 },
    ],
    ['what is not to be sent, shown', draft('a\u001bb\u202e\t'), 40, 5, { rows: [String.raw`> a\x1bb\u202e    `], row: 0, column: 18 }],
  ])('are %s', (_, typed, columns, most, expected) => {
    expect(editorRows(typed, columns, most)).toEqual(expected)
  })
})
