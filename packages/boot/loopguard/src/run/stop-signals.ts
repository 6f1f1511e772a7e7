export type StopSignal = 'SIGINT' | 'SIGTERM'

const EXIT_CODES: Readonly<Record<StopSignal, number>> = { SIGINT: 130, SIGTERM: 143 }

/** Waits for the signals that ask a process to stop. The first is a request; the second ends the process at once. */
export class StopSignals {
  /** Settles with the first signal. */
  readonly first: Promise<StopSignal>
  private signal: StopSignal | undefined

  constructor() {
    this.first = new Promise((resolve) => {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) {
        process.on(signal, () => {
          if (this.signal !== undefined) process.exit(EXIT_CODES[signal])
          this.signal = signal
          resolve(signal)
        })
      }
    })
  }

  /** The exit code that the first signal asks for; `undefined` while there was none. */
  get exitCode(): number | undefined {
    return this.signal === undefined ? undefined : EXIT_CODES[this.signal]
  }
}
