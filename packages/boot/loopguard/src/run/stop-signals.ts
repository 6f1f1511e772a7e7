const EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const

export type StopSignal = keyof typeof EXIT_CODES

/** Waits for the signals that ask a process to stop. The first is a request; the second ends the process at once. */
export class StopSignals {
  /** Settles with the first signal. */
  readonly first: Promise<StopSignal>
  private signal: StopSignal | undefined

  constructor() {
    const { promise, resolve } = Promise.withResolvers<StopSignal>()
    this.first = promise
    for (const signal of Object.keys(EXIT_CODES) as StopSignal[]) {
      process.on(signal, () => {
        if (this.signal !== undefined) process.exit(EXIT_CODES[signal])
        this.signal = signal
        resolve(signal)
      })
    }
  }

  /** The exit code that the first signal asks for; `undefined` while there was none. */
  get exitCode(): number | undefined {
    return this.signal === undefined ? undefined : EXIT_CODES[this.signal]
  }
}
