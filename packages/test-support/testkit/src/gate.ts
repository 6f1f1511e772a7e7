/** A door that opens once. Tests wait on it where they would otherwise sleep. */
export interface Gate {
  readonly isOpen: boolean
  /** Settles when the gate opens. */
  readonly opened: Promise<void>
  /** Again is a no-op. */
  open(): void
  /** Settles when the gate opens; rejects with the signal's reason when that aborts first. Leaves nothing on the signal. */
  wait(signal?: AbortSignal): Promise<void>
}

export function gate(): Gate {
  let isOpen = false
  let release!: () => void
  const opened = new Promise<void>((resolve) => (release = resolve))
  return {
    get isOpen() {
      return isOpen
    },
    opened,
    open: () => {
      isOpen = true
      release()
    },
    wait: (signal) => (signal === undefined ? opened : unlessAborted(opened, signal)),
  }
}

function unlessAborted(opened: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (): void => reject(signal.reason as Error)
    if (signal.aborted) return fail()
    signal.addEventListener('abort', fail, { once: true })
    void opened.then(() => {
      signal.removeEventListener('abort', fail)
      resolve()
    })
  })
}
