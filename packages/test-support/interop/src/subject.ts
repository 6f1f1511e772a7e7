interface Deadline {
  readonly signal: AbortSignal
  [Symbol.dispose](): void
}

/** A pair of guards, as a harness author would load it. */
export interface Subject {
  /** Column heading. */
  readonly title: string
  readonly timeoutPolicy: object
  readonly repeatToolReminder: object
  /** The `./invariant` companions, with the package whose contract each one checks. */
  readonly companions: readonly { readonly packageName: string; readonly plugin: object }[]
  /** The deadline of the library that this pair is made with. */
  readonly deadline: (upstream: AbortSignal, timeoutMs: number, code: string) => Deadline
  /** Behaviours that this pair does not promise: id of the behaviour, and what it does instead. */
  readonly differs: Readonly<Record<string, string>>
}
