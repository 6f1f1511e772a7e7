import type { WriteStream } from 'node:tty'
import { escaped, type Style, styleOf } from './terminal.ts'

type Stream = Pick<WriteStream, 'write' | 'on'> & { readonly isTTY?: boolean }

/** One stream of the process. A reader that has gone away (`EPIPE`) silences it; the run goes on. */
export class Outlet {
  readonly style: Style
  private readonly stream: Stream
  private closed = false

  constructor(stream: Stream) {
    this.stream = stream
    this.style = styleOf(stream)
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error
      this.closed = true
    })
  }

  /** Writes text that has been made safe already. */
  write(text: string): void {
    if (text !== '' && !this.closed) this.stream.write(text)
  }

  /** Writes text that may hold anything. */
  say(text: string): void {
    this.write(this.style.isTerminal ? escaped(text) : text)
  }
}
