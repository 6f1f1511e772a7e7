import { codeOf, messageOf, show, strayKey } from '@loopguard/kit'
import { askApproval } from './approval.ts'
import type { Pipeline } from './pipeline.ts'
import { layersOf, onion } from './onion.ts'
import { abortedBeforeDispatch, denied, thrownFailure } from './results.ts'
import type { PreToolDecision, ToolExecution, ToolExecutionFailure } from './types.ts'

const ALLOW: PreToolDecision = Object.freeze({ kind: 'allow' })

/**
 * Whether a call may run: `tools/pre-execute`, approval when that asks for it, then the vetoes of `ctx.tools.guard`. `undefined` lets it run; everything
 * else is the failure that it ends with. Never rejects.
 */
export function judge(
  pipeline: Pipeline,
  exec: ToolExecution,
  carrier: object,
): Promise<ToolExecutionFailure | undefined> | ToolExecutionFailure | undefined {
  try {
    const args = [exec]
    const layers = layersOf(pipeline.bus, carrier, EVENT, args)
    if (layers.listeners.length === 0) return exec.signal.aborted ? abortedBeforeDispatch() : askVetoes(pipeline, exec)
    return afterListeners(pipeline, exec, onion({ event: EVENT, args, center: () => ALLOW, parse: decisionOf, ...layers }))
  } catch (thrown) {
    return thrownFailure(thrown, exec.signal)
  }
}

const EVENT = 'tools/pre-execute'

async function afterListeners(
  pipeline: Pipeline,
  exec: ToolExecution,
  deciding: Promise<Decision>,
): Promise<ToolExecutionFailure | undefined> {
  try {
    return (await obey(pipeline, exec, await deciding)) ?? (exec.signal.aborted ? abortedBeforeDispatch() : askVetoes(pipeline, exec))
  } catch (thrown) {
    return codeOf(thrown) === 'BAD_ANSWER' ? denied(messageOf(thrown)) : thrownFailure(thrown, exec.signal)
  }
}

/** Fails closed: what is not exactly an allow, or an ask that was granted, denies. */
function obey(
  pipeline: Pipeline,
  exec: ToolExecution,
  { kind, reason }: Decision,
): Promise<ToolExecutionFailure | undefined> | ToolExecutionFailure | undefined {
  if (kind === 'allow') return undefined
  if (kind === 'ask') return askApproval(pipeline, exec, typeof reason === 'string' ? reason : undefined)
  return denied(kind === 'deny' && isReason(reason) ? reason : `${EVENT}: a listener denied the call without a reason`)
}

interface Decision {
  readonly kind: PreToolDecision['kind']
  readonly reason?: unknown
}

/** Each field is read once. */
function decisionOf(answer: unknown): Decision {
  if (typeof answer !== 'object' || answer === null) throw new TypeError(`returned ${show(answer)}, not a decision`)
  const { kind, reason } = answer as { readonly kind?: unknown; readonly reason?: unknown }
  if (kind !== 'allow' && kind !== 'deny' && kind !== 'ask')
    throw new TypeError(`answered with the kind ${show(kind)}, not allow, deny or ask`)
  const stray = strayKey(answer, ['kind', 'reason'])
  if (stray !== undefined) throw new TypeError(`gave a decision that ${stray}`)
  return { kind, reason }
}

/** In order; the first that does not let the call pass denies it, and nothing later is asked. */
function askVetoes(pipeline: Pipeline, exec: ToolExecution): ToolExecutionFailure | undefined {
  for (const { veto, plugin } of pipeline.registry.vetoesFor(exec.agent)) {
    let answer: unknown
    try {
      answer = veto(exec)
    } catch (thrown) {
      return denied(`a guard of plugin "${plugin}" failed: ${messageOf(thrown)}`)
    }
    if (answer === undefined) continue
    if (typeof answer === 'string')
      return denied(isReason(answer) ? answer : `a guard of plugin "${plugin}" denied the call without a reason`)
    // A promise is no answer; its rejection must not stay unhandled.
    void Promise.resolve(answer).catch(() => {})
    return denied(`a guard of plugin "${plugin}" returned ${isThenable(answer) ? 'a promise' : show(answer)}, not a reason or undefined`)
  }
  return undefined
}

function isReason(reason: unknown): reason is string {
  return typeof reason === 'string' && reason.trim() !== ''
}

function isThenable(value: unknown): boolean {
  try {
    return typeof (value as { readonly then?: unknown } | null)?.then === 'function'
  } catch {
    return false
  }
}
