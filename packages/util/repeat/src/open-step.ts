import type { Outcome } from './outcome.ts'

/** What a message says of results: that it holds some, or also what they are. */
export type Results = boolean | readonly (Outcome & { readonly call?: number | undefined })[]

export interface StepCall {
  readonly name: string
  readonly args: unknown
  outcome?: Outcome | undefined
}

/** The calls of a step that are not counted yet: what they came to is told by the messages behind them. */
export class OpenStep {
  private calls: StepCall[] = []
  private answered = 0

  add(calls: readonly { readonly name: string; readonly args: unknown }[]): void {
    for (const { name, args } of calls) this.calls.push({ name, args })
  }

  /** A result without an index is that of the first call that has none. */
  answer(results: Results): void {
    if (typeof results === 'boolean') return
    for (const { isError, text, call } of results) {
      const target = this.calls[call ?? this.next()]
      if (target !== undefined) target.outcome = { isError, text }
    }
  }

  /** Its calls, in the order of the model. They are counted now, or never. */
  close(): readonly StepCall[] {
    const { calls } = this
    this.calls = []
    this.answered = 0
    return calls
  }

  private next(): number {
    while (this.calls[this.answered]?.outcome !== undefined) this.answered++
    return this.answered
  }
}
