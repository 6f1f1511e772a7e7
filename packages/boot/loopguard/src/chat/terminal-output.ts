import { closeSync, constants, openSync, writeSync } from 'node:fs'
import { codeOf } from '@loopguard/kit'

const LOOK_AGAIN_MS = 20

/** Of the system, as much as is used here. */
export interface Device {
  /** Takes as much as it can now, and says how much that was. @throws an error with the code `EAGAIN` when it can take nothing. */
  write(bytes: Uint8Array): number
  close(): void
}

/**
 * Writes to a terminal and never waits for it: a terminal that reads nothing (a stalled connection, a window that is being dragged)
 * must not hold up the agents. So it takes one text at a time, and says when it is done with it.
 */
export class TerminalOutput {
  /** Called when the text has been taken: the next one may come. */
  onDrain: () => void = () => {}
  /** Called once, when the terminal is gone. */
  onGone: () => void = () => {}
  private readonly device: Device
  private rest: Uint8Array = new Uint8Array()
  private isGone = false

  constructor(device: Device = terminalDevice()) {
    this.device = device
  }

  /** Whether a text is still on its way. Then no other may be written. */
  get isBusy(): boolean {
    return this.rest.length > 0
  }

  write(text: string): void {
    if (this.isGone || text === '') return
    this.rest = Buffer.from(text)
    this.push()
  }

  close(): void {
    this.isGone = true
    this.rest = new Uint8Array()
    this.device.close()
  }

  private push(): void {
    try {
      while (this.rest.length > 0) this.rest = this.rest.subarray(this.device.write(this.rest))
    } catch (error) {
      if (codeOf(error) === 'EAGAIN') {
        const again = setTimeout(() => {
          this.push()
          if (!this.isBusy && !this.isGone) this.onDrain()
        }, LOOK_AGAIN_MS)
        // A terminal that reads nothing is no reason to stay.
        again.unref()
        return
      }
      this.rest = new Uint8Array()
      this.isGone = true
      this.onGone()
    }
  }
}

/** The terminal of this process, opened once more: a mode of its own, in which a write does not wait, is no business of standard output. */
function terminalDevice(): Device {
  try {
    const fd = openSync('/dev/tty', constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
    return { write: (bytes) => writeSync(fd, bytes), close: () => closeSync(fd) }
  } catch {
    return { write: (bytes) => writeSync(process.stdout.fd, bytes), close: () => {} }
  }
}
