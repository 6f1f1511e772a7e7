import type { WriteStream } from 'node:tty'

/** Of a terminal, as much as is used here. */
export type TerminalStream = Pick<WriteStream, 'write'> & { readonly isTTY?: boolean }

/** From the cursor on, to the end of the screen: also what a narrower window has made several rows of. */
const ERASE = '\u001b[J'
/** A terminal may think a character wider than we do: what does not fit is not to wrap. */
const [NO_WRAP, WRAP] = ['\u001b[?7l', '\u001b[?7h']

/**
 * One line below everything else on a terminal. Whatever anybody writes to the streams of that terminal goes above it, at the place
 * where the line was: the line is taken away first, and comes back with the next {@link show}.
 *
 * The cursor stays at the start of the line, so that one control sequence erases all of it, however the window has been resized
 * meanwhile; it is not hidden, and no mode of the terminal outlasts a write. So there is nothing to restore after a crash.
 */
export class BottomLine {
  private readonly restore: (() => void)[] = []
  private readonly writeThrough: (text: string) => void
  private isShown = false
  /** Something was written that ends within a line: the cursor is not ours. */
  private isMidLine = false

  /** @param others - streams that may be the same terminal; those that are none are left alone. */
  constructor(stream: TerminalStream, others: readonly TerminalStream[] = []) {
    const write = stream.write.bind(stream)
    this.writeThrough = (text) => void write(text)
    for (const one of new Set([stream, ...others.filter(({ isTTY }) => isTTY === true)])) this.watch(one)
  }

  /** @param text - safe for a terminal, without line breaks, and shorter than the terminal is wide. */
  show(text: string): void {
    if (this.isMidLine) return
    this.isShown = true
    this.put(`${ERASE}${NO_WRAP}${text}${WRAP}\r`)
  }

  /** Takes the line away. */
  clear(): void {
    if (!this.isShown) return
    this.isShown = false
    this.put(ERASE)
  }

  /** Takes the line away, and lets the streams alone. */
  close(): void {
    this.clear()
    for (const restore of this.restore.splice(0)) restore()
  }

  private put(text: string): void {
    try {
      this.writeThrough(text)
    } catch {
      // A terminal that has gone away is found out by who writes what matters.
    }
  }

  private watch(stream: TerminalStream): void {
    const own = Object.getOwnPropertyDescriptor(stream, 'write')
    const { write } = stream
    const watched = ((chunk: string | Uint8Array, ...rest: unknown[]) => {
      this.clear()
      if (chunk.length > 0) this.isMidLine = chunk.at(-1) !== (typeof chunk === 'string' ? '\n' : 0x0a)
      return (write as (...args: unknown[]) => boolean).call(stream, chunk, ...rest)
    }) as TerminalStream['write']
    stream.write = watched
    this.restore.push(() => {
      // Whoever has put something of theirs over it keeps it; it goes on to the stream through ours.
      if (stream.write !== watched) return
      if (own === undefined) delete (stream as { write?: unknown }).write
      else Object.defineProperty(stream, 'write', own)
    })
  }
}
