import { codeOf, HarnessError, messageOf, show, snapshot } from '@loopguard/kit'
import { isRecord } from './content.ts'
import { isAbortSignal } from './fuse.ts'
import type { ToolExecutionInput } from './types.ts'

/** The arguments of a call as a deep-frozen, lossless copy, or why there is none. */
export function argumentsOf(value: unknown): { readonly args: unknown; readonly notJson: string | undefined } {
  try {
    return { args: snapshot(value, 'arguments'), notJson: undefined }
  } catch (thrown) {
    const why = codeOf(thrown) === 'NOT_JSON' ? messageOf(thrown) : `arguments cannot be read: ${messageOf(thrown)}`
    return { args: undefined, notJson: why }
  }
}

/** @throws HarnessError `BAD_CALL` for what is no call. */
export function assertCall(input: ToolExecutionInput): void {
  if (!isRecord(input)) throw new HarnessError(`tools: a call must be an object, got ${show(input)}`, 'BAD_CALL')
  const { callId, name, signal, agent, parent } = input as ToolExecutionInput
  const fault =
    typeof name !== 'string'
      ? `\`name\` must be text, got ${show(name)}`
      : typeof callId !== 'string'
        ? `\`callId\` must be text, got ${show(callId)}`
        : !isAbortSignal(signal)
          ? `\`signal\` must be an AbortSignal, got ${show(signal)}`
          : agent !== undefined && (typeof agent !== 'object' || agent === null)
            ? `\`agent\` must be an agent, got ${show(agent)}`
            : parent !== undefined && typeof parent !== 'symbol'
              ? `\`parent\` must be the token of the enclosing call, got ${show(parent)}`
              : undefined
  if (fault !== undefined) throw new HarnessError(`tools: a call's ${fault}`, 'BAD_CALL')
}
