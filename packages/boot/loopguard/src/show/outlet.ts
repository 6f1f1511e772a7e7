import type { WriteStream } from 'node:tty'
import { escaped, type Style, styleOf } from './terminal.ts'

type Stream = Pick<WriteStream, 'write' | 'on'> & { readonly isTTY?: boolean; readonly columns?: number }

const outlets = new WeakMap<Stream, Outlet>()

/** The outlet of a stream: one for each, however often it is asked for. */
export function outletOf(stream: Stream): Outlet {
  let outlet = outlets.get(stream)
  if (outlet === undefined) outlets.set(stream, (outlet = new Outlet(stream)))
  return outlet
}

/** One stream of the process. Once it cannot be written to, nothing more is: a full disk (`ENOSPC`), a reader that went away (`EPIPE`). */
export class Outlet {
  readonly style: Style
  /** Settles when the stream cannot be written to. */
  readonly broken: Promise<Error>
  readonly stream: Stream
  private readonly fail: (error: Error) => void
  private failure: Error | undefined

  constructor(stream: Stream) {
    this.stream = stream
    this.style = styleOf(stream)
    const { promise, resolve } = Promise.withResolvers<Error>()
    this.broken = promise
    this.fail = (error) => {
      this.failure ??= error
      resolve(error)
    }
    stream.on('error', this.fail)
  }

  get isBroken(): boolean {
    return this.failure !== undefined
  }

  /** Writes text that has been made safe already. */
  write(text: string): void {
    if (text === '' || this.isBroken) return
    try {
      this.stream.write(text)
    } catch (error) {
      this.fail(error as Error)
    }
  }

  /** Writes text that may hold anything. */
  say(text: string): void {
    this.write(this.style.isTerminal ? escaped(text) : text)
  }
}
