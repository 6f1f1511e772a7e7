import type { Outcome } from './outcome.ts'

/** What a message says of results: that it holds some, or also what they are. */
export type Results = boolean | readonly (Outcome & { readonly call?: number | undefined; readonly id?: string | undefined })[]

/** A call, as a message has it. */
export interface CallRead {
  readonly name: string
  readonly args: unknown
  /** What its result names it by. */
  readonly id?: string | undefined
}

export interface StepCall extends CallRead {
  outcome?: Outcome | undefined
}

/** The calls of a step that are not counted yet: what they came to is told by the messages behind them. */
export class OpenStep {
  private calls: StepCall[] = []
  private answered = 0

  add(calls: readonly CallRead[]): void {
    for (const { name, args, id } of calls) this.calls.push({ name, args, id })
  }

  /** A result that names no call is that of the first call that has none. */
  answer(results: Results): void {
    if (typeof results === 'boolean') return
    for (const { isError, text, call, id } of results) {
      const target = id === undefined ? this.calls[call ?? this.next()] : this.calls.find((one) => one.id === id)
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
