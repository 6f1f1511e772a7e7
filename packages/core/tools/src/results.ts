import { asSnapshot, codeOf, HarnessError, messageOf, show } from '@loopguard/kit'
import { type ContentBlock, text, type UserMessage } from '@loopguard/llm'
import { timeoutOf } from '@loopguard/timeout'
import { contentOf, contextsOf, isRecord } from './content.ts'
import { ToolFailures } from './failure-codes.ts'
import { NO_CONTEXTS } from './sink.ts'
import type { ToolErrorInfo, ToolExecutionFailure, ToolExecutionResult, ToolExecutionSuccess } from './types.ts'

/** `content` and `contexts` must be deep-frozen already. */
export function success(
  content: readonly ContentBlock[],
  contexts: readonly UserMessage[] = NO_CONTEXTS,
  concludes = false,
): ToolExecutionSuccess {
  return Object.freeze({
    isError: false,
    content,
    ...(contexts.length > 0 && { additionalContexts: contexts }),
    ...(concludes && { concludesTurn: true as const }),
  })
}

/** A failure whose content is what the model reads of it: `Error: <message>`. */
function failure(message: string, info?: ToolErrorInfo): ToolExecutionFailure {
  return Object.freeze({ isError: true, content: textContent(`Error: ${message}`), error: errorOf(message, info) })
}

export const unknownTool = (name: string): ToolExecutionFailure => failure(`unknown tool "${name}"`, ToolFailures.UNKNOWN_TOOL)

export const invalidArguments = (violations: string): ToolExecutionFailure =>
  failure(`invalid arguments: ${violations}`, ToolFailures.INVALID_ARGS)

export const denied = (reason: string): ToolExecutionFailure => failure(reason, ToolFailures.DENIED)

export const abortedBeforeDispatch = (): ToolExecutionFailure =>
  failure('tool call aborted before dispatch', ToolFailures.ABORTED_BEFORE_DISPATCH)

export const aborted = (): ToolExecutionFailure => failure('tool call aborted', ToolFailures.ABORTED)

export const givenUp = (): ToolExecutionFailure =>
  failure(
    'tool call was given up on: the tool did not stop when it was cancelled, and may still be working; whether it took effect is not known',
    ToolFailures.TOOL_OUTCOME_UNKNOWN,
  )

export const invalidOutput = (name: string, why: string): ToolExecutionFailure =>
  failure(`tool "${name}" returned invalid output: ${why}`, ToolFailures.INVALID_TOOL_OUTPUT)

/** What the reader of a blocked call sees is the feedback alone. `feedback` must be deep-frozen already. */
export function blocked(feedback: readonly ContentBlock[]): ToolExecutionFailure {
  const message = feedback.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
  return Object.freeze({ isError: true, content: feedback, error: errorOf(message, ToolFailures.BLOCKED) })
}

/**
 * What a body or a listener threw: its message, and its name and code when it has a string `code`. The reason of the signal that
 * they were given, handed back, is no failure of theirs: when it brings no message to show, or is that of a deadline further out,
 * whose code and time would read as this call's own, the call counts as aborted.
 */
export function thrownFailure(thrown: unknown, signal: AbortSignal): ToolExecutionFailure {
  if (signal.aborted && thrown === signal.reason && (!hasMessage(thrown) || timeoutOf(signal) !== undefined)) return aborted()
  const message = messageOf(thrown)
  const code = codeOf(thrown)
  return failure(message === '' ? 'failed without a message' : message, code === undefined ? undefined : { name: nameOf(thrown), code })
}

/** The result with another set of contexts, and concluding or not: only a success concludes. `contexts` must be deep-frozen already. */
export function withExtras(result: ToolExecutionResult, contexts: readonly UserMessage[], concludes: boolean): ToolExecutionResult {
  if (
    result.additionalContexts === undefined &&
    contexts.length === 0 &&
    (result.isError || (result.concludesTurn === true) === concludes)
  ) {
    return result
  }
  if (!result.isError) return success(result.content, contexts, concludes)
  const { content, error } = result
  return Object.freeze({ isError: true, content, error, ...(contexts.length > 0 && { additionalContexts: contexts }) })
}

/** The result with other content. `content` must be deep-frozen already. */
export function withContent(result: ToolExecutionResult, content: readonly ContentBlock[]): ToolExecutionResult {
  return Object.freeze({ ...result, content })
}

/**
 * A result that a listener gave, as a detached, deep-frozen, well-formed one. Fields that are no part of a result are left out.
 * @throws HarnessError or JsonError that says what is wrong and where.
 */
export function resultOf(value: unknown): ToolExecutionResult {
  if (!isRecord(value)) throw bad(`it is ${show(value)}, not a result`)
  const { isError, additionalContexts, concludesTurn, error } = value
  if (typeof isError !== 'boolean') throw bad(`result.isError must be true or false, got ${show(isError)}`)
  const content = contentOf(value['content'], 'result.content')
  const contexts = additionalContexts === undefined ? NO_CONTEXTS : contextsOf(additionalContexts, 'result.additionalContexts')
  if (!isError) {
    if (concludesTurn !== undefined && typeof concludesTurn !== 'boolean') {
      throw bad(`result.concludesTurn must be true or left out, got ${show(concludesTurn)}`)
    }
    return success(content, contexts, concludesTurn === true)
  }
  return Object.freeze({
    isError: true,
    content,
    error: failureDataOf(error),
    ...(contexts.length > 0 && { additionalContexts: contexts }),
  })
}

function failureDataOf(error: unknown): ToolExecutionFailure['error'] {
  if (!isRecord(error)) throw bad(`result.error must be { message, info? }, got ${show(error)}`)
  const { message, info } = error
  if (typeof message !== 'string') throw bad(`result.error.message must be text, got ${show(message)}`)
  if (info === undefined) return errorOf(message, undefined)
  if (!isRecord(info)) throw bad(`result.error.info must be { name, code }, got ${show(info)}`)
  const { name, code } = info
  if (typeof name !== 'string' || typeof code !== 'string') {
    throw bad(`result.error.info must hold a name and a code as text, got ${show(name)} and ${show(code)}`)
  }
  return errorOf(message, { name, code })
}

function errorOf(message: string, info: ToolErrorInfo | undefined): ToolExecutionFailure['error'] {
  return Object.freeze({ message, ...(info !== undefined && { info: Object.freeze(info) }) })
}

/** A string as the content it stands for: one text block. */
export function textContent(value: string): readonly ContentBlock[] {
  return asSnapshot([asSnapshot(text(value))])
}

function hasMessage(thrown: unknown): boolean {
  return typeof thrown === 'string' || typeof (thrown as { readonly message?: unknown } | null | undefined)?.message === 'string'
}

function nameOf(thrown: unknown): string {
  try {
    const name: unknown = (thrown as { readonly name?: unknown }).name
    return typeof name === 'string' && name !== '' ? name : 'Error'
  } catch {
    return 'Error'
  }
}

function bad(message: string): HarnessError {
  return new HarnessError(message, 'BAD_CONTENT')
}
