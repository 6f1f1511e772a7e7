import { beforeEach, describe, expect, it } from 'vitest'
import { BottomLine, type TerminalStream } from '../src/live/bottom-line.ts'

let written = ''
beforeEach(() => (written = ''))

class Stream {
  readonly isTTY: boolean
  constructor(isTTY = true) {
    this.isTTY = isTTY
  }
  write(chunk: string | Uint8Array): boolean {
    written += Buffer.from(chunk as Uint8Array).toString()
    return true
  }
}
const stream = (isTTY = true): TerminalStream => new Stream(isTTY) as unknown as TerminalStream
const drawn = (text: string): string => `\u001b[J\u001b[?7l${text}\u001b[?7h\r`

describe('a line below everything else', () => {
  it('is taken away before something is written, whoever writes it, and comes back with the next show', () => {
    const [out, err] = [stream(), stream()]
    const line = new BottomLine(out, [err])
    line.show('live')
    out.write('one\n')
    err.write(new TextEncoder().encode('two\n'))
    line.show('live')
    line.show('again')
    line.close()
    expect(written).toBe(`${drawn('live')}\u001b[Jone\ntwo\n${drawn('live')}${drawn('again')}\u001b[J`)
  })

  it('waits for the end of a line that somebody has begun; nothing ends no line', () => {
    const out = stream()
    const line = new BottomLine(out)
    out.write('half')
    out.write('')
    line.show('live')
    out.write(' a line\n')
    out.write('')
    line.show('live')
    expect(written).toBe(`half a line\n${drawn('live')}`)
  })

  it('leaves a stream alone that is no terminal', () => {
    const file = stream(false)
    const before = file.write
    const line = new BottomLine(stream(), [file])
    expect(file.write).toBe(before)
    line.close()
  })

  it('is gone when it is closed, and the streams are as they were, or as somebody else has made them', () => {
    const [out, err] = [stream(), stream()]
    const line = new BottomLine(out, [err])
    const theirs = (): boolean => true
    err.write = theirs
    line.close()
    expect([Object.hasOwn(out, 'write'), err.write]).toEqual([false, theirs])
    line.clear()
    expect(written).toBe('')
  })

  it('keeps a write that a stream has of its own', () => {
    const out = stream()
    const own = (): boolean => true
    out.write = own
    new BottomLine(out).close()
    expect(out.write).toBe(own)
  })

  it('is no reason to end when the terminal is gone', () => {
    const out = stream()
    out.write = () => {
      throw new Error('EIO')
    }
    const line = new BottomLine(out)
    expect(() => {
      line.show('live')
      line.close()
    }).not.toThrow()
  })
})
