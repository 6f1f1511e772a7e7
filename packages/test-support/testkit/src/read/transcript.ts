import type { ModelBlock, TextBlock } from '@loopguard/llm'

/** A tool call that the recorded model made. */
export interface RecordedCall {
  /** As recorded: not unique over the whole conversation, since some providers number anew with each answer. */
  readonly id: string
  readonly name: string
  /** The model's raw text. */
  readonly arguments: string
  /** `undefined` when the transcript holds none. */
  readonly result: string | undefined
  /** The transcript says that the call failed. */
  readonly isError?: true
}

/** One answer of the recorded model. */
export interface RecordedAnswer {
  readonly blocks: readonly ModelBlock[]
  readonly calls: readonly RecordedCall[]
}

/** What the recorded model read besides tool results. A later `system` or `developer` message is an `instruction`. */
export interface RecordedInput {
  readonly kind: 'user' | 'instruction'
  readonly content: readonly TextBlock[]
}

/** A recorded conversation, cut into what the model said and what it read in between. */
export interface Transcript {
  /** The `system` and `developer` messages that come before everything else. */
  readonly system: string | undefined
  /** Name of the recorded model, when the file says it. */
  readonly model: string | undefined
  readonly answers: readonly RecordedAnswer[]
  /** What was left out or guessed, a sentence each. */
  readonly notes?: readonly string[]
  /** `inputs[k]` stands before answer k; the last entry stands after the last answer. */
  readonly inputs: readonly (readonly RecordedInput[])[]
}
