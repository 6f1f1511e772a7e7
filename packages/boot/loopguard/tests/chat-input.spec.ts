import { EventEmitter } from 'node:events'
import { setImmediate as tick } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { Input, type InputHandlers, type KeyStream } from '../src/chat/input.ts'

describe('what is typed', () => {
  class Keys extends EventEmitter {
    modes: boolean[] = []
    setRawMode(isRaw: boolean): this {
      this.modes.push(isRaw)
      return this
    }
    pause = (): this => this
    resume = (): this => this
    async type(text: string): Promise<void> {
      this.emit('data', Buffer.from(text))
      await tick()
      await tick()
    }
  }
  const handlers = () =>
    ({
      line: vi.fn<InputHandlers['line']>(),
      question: vi.fn<InputHandlers['question']>(),
      interrupt: vi.fn<() => void>(),
      leave: vi.fn<() => void>(),
      changed: vi.fn<() => void>(),
      suspended: vi.fn<() => void>(),
      resumed: vi.fn<() => void>(),
      complete: (line: string): [string[], string] => [[], line],
    }) satisfies InputHandlers
  let now = 0
  const input = () => {
    const [keys, told] = [new Keys(), handlers()]
    now = 0
    return { keys, told, input: new Input(keys as unknown as KeyStream, told, () => now) }
  }

  it('is a line when Enter is typed; several that come at once wait for an Enter of their own', async () => {
    const { keys, told, input: it } = input()
    await keys.type('hi\r')
    await keys.type('a\rb\rc')
    expect(told.line.mock.calls).toEqual([['hi', undefined]])
    expect(it.draft('> ')).toEqual({ prompt: '(2 more lines) > ', line: 'c', cursor: 1 })
    await keys.type('\r')
    expect(told.line.mock.calls).toEqual([
      ['hi', undefined],
      ['a\nb\nc', undefined],
    ])
    it.close()
  })

  it('answers the question that was there when Enter was pressed', async () => {
    const { keys, told, input: it } = input()
    told.question.mockReturnValueOnce('the first').mockReturnValue('the second')
    await keys.type('y\r')
    expect(told.line.mock.calls).toEqual([['y', 'the first']])
    it.close()
  })

  it.each([
    [1999, 1],
    [2000, 1],
    [2001, 0],
  ])('Ctrl-C again after %i ms leaves %i times', async (laterMs, times) => {
    const { keys, told, input: it } = input()
    await keys.type('\u0003')
    now = laterMs
    await keys.type('\u0003')
    expect(told.leave).toHaveBeenCalledTimes(times)
    expect(told.interrupt).toHaveBeenCalledTimes(2 - times)
    it.close()
  })

  it('can be put aside and brought back, with the cursor at its end', async () => {
    const { keys, input: it } = input()
    await keys.type('some words\u001b[D\u001b[D')
    expect(it.takeLine()).toBe('some words')
    expect(it.draft('')).toEqual({ prompt: '', line: '', cursor: 0 })
    it.putLine('some words')
    expect(it.draft('')).toEqual({ prompt: '', line: 'some words', cursor: 10 })
    it.close()
  })

  it.each(['end', 'close', 'error'])(
    'is over on %s of the terminal, and a mode that cannot be set any more is no failure',
    async (event) => {
      const { keys, told, input: it } = input()
      keys.setRawMode = () => {
        throw new Error('setRawMode EIO')
      }
      keys.emit(event, new Error('gone'))
      expect(told.leave).toHaveBeenCalledTimes(1)
      expect(() => it.close()).not.toThrow()
      expect(told.leave).toHaveBeenCalledTimes(1)
    },
  )

  it('sets the mode of the terminal, and sets it back', () => {
    const { keys, input: it } = input()
    it.close()
    expect(keys.modes).toEqual([true, false])
    expect(keys.listenerCount('data')).toBe(0)
  })
})
