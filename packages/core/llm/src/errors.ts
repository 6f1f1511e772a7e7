import { codeOf, HarnessError, messageOf } from '@loopguard/kit'

/** A failed model request, as data: it stands in the log and in a terminal `finish`. */
export interface LlmFailure {
  readonly message: string
  readonly code: string
  /** HTTP status, when there was one. */
  readonly status?: number
  /** How long the provider asked to wait, in milliseconds. */
  readonly retryAfterMs?: number
  readonly requestId?: string
  /** Whether the same request may well succeed later. Absent when it is unknown. */
  readonly retryable?: boolean
}

export interface LlmErrorOptions extends ErrorOptions {
  readonly status?: number
  readonly retryAfterMs?: number
  readonly requestId?: string
  readonly retryable?: boolean
}

/** Recognises an {@link LlmError} of another loaded copy of this package too. */
const LLM_ERROR = Symbol.for('loopguard.llm.LlmError')

/** What an adapter throws when it knows more than a message. A number that is not finite is left out: failures go into the log. */
export class LlmError extends HarnessError {
  readonly failure: LlmFailure

  constructor(message: string, code: string, options: LlmErrorOptions = {}) {
    super(message, code, options)
    this.name = 'LlmError'
    const { status, retryAfterMs, requestId, retryable } = options
    this.failure = Object.freeze({
      message,
      code,
      ...(Number.isFinite(status) && { status }),
      ...(Number.isFinite(retryAfterMs) && { retryAfterMs }),
      ...(requestId !== undefined && { requestId }),
      ...(retryable !== undefined && { retryable }),
    }) as LlmFailure
  }

  static {
    Object.defineProperty(this.prototype, LLM_ERROR, { value: true })
  }
}

/** Turns a thrown value into failure data; `code` is used when the thrown value brings none. */
export function failureOf(thrown: unknown, code: string): LlmFailure {
  if (isLlmError(thrown)) return thrown.failure
  return Object.freeze({ message: messageOf(thrown), code: codeOf(thrown) ?? code })
}

function isLlmError(thrown: unknown): thrown is LlmError {
  return thrown instanceof Error && LLM_ERROR in thrown
}
