import { HarnessError, messageOf, show, strayKey } from '@loopguard/kit'
import type { ContentBlock, UserMessage } from '@loopguard/llm'
import { contentOf, contextsOf, isRecord } from './content.ts'
import type { Pipeline } from './pipeline.ts'
import { layersOf, onion } from './onion.ts'
import { blocked, thrownFailure, withContent, withExtras } from './results.ts'
import { mergeContexts, NO_CONTEXTS } from './sink.ts'
import type { PostToolDecision, ToolExecution, ToolExecutionResult } from './types.ts'

const EVENT = 'tools/post-execute'
const ACCEPT: PostToolDecision = Object.freeze({ kind: 'accept' })

/**
 * `tools/post-execute` and what it decides. A listener that fails, fails the call, and as with a block nothing of the outcome that
 * it should have judged gets through: neither content nor contexts nor conclusion. Never rejects.
 */
export function review(
  pipeline: Pipeline,
  exec: ToolExecution,
  carrier: object,
  outcome: ToolExecutionResult,
): Promise<ToolExecutionResult> | ToolExecutionResult {
  try {
    const args = [exec, outcome]
    const layers = layersOf(pipeline.bus, carrier, EVENT, args)
    if (layers.listeners.length === 0) return outcome
    return decided(exec, outcome, onion({ event: EVENT, args, center: () => ACCEPT, parse, ...layers }))
  } catch (thrown) {
    return thrownFailure(thrown, exec.signal)
  }
}

async function decided(exec: ToolExecution, outcome: ToolExecutionResult, deciding: Promise<Decision>): Promise<ToolExecutionResult> {
  try {
    const { content, feedback, contexts } = await deciding
    if (feedback !== undefined) return withExtras(blocked(feedback), contexts, false)
    const reviewed = content === undefined ? outcome : withContent(outcome, content)
    if (contexts.length === 0) return reviewed
    const concludes = !reviewed.isError && reviewed.concludesTurn === true
    return withExtras(reviewed, mergeContexts(reviewed.additionalContexts ?? NO_CONTEXTS, contexts), concludes)
  } catch (thrown) {
    return thrownFailure(thrown, exec.signal)
  }
}

interface Decision {
  readonly content?: readonly ContentBlock[]
  /** Given by a block, and by that alone. */
  readonly feedback?: readonly ContentBlock[]
  readonly contexts: readonly UserMessage[]
}

/** @throws HarnessError or JsonError that says what is wrong with it. Each field is read once. */
function decisionOf(value: Readonly<Record<string, unknown>>): Decision {
  const { kind, content, feedback, additionalContexts } = value
  if (kind !== 'accept' && kind !== 'block') throw new HarnessError(`its kind is ${show(kind)}, not accept or block`, 'BAD_ANSWER')
  const stray = strayKey(value, ['kind', kind === 'accept' ? 'content' : 'feedback', 'additionalContexts'])
  if (stray !== undefined) throw new HarnessError(`${kind === 'accept' ? 'an accept' : 'a block'} ${stray}`, 'BAD_ANSWER')
  const contexts = additionalContexts === undefined ? NO_CONTEXTS : contextsOf(additionalContexts, 'additionalContexts')
  if (kind === 'block') return { feedback: contentOf(feedback, 'feedback'), contexts }
  return content === undefined ? { contexts } : { content: contentOf(content, 'content'), contexts }
}

function parse(answer: unknown): Decision {
  if (answer === ACCEPT) return { contexts: NO_CONTEXTS }
  if (!isRecord(answer)) throw new TypeError(`returned ${show(answer)}, not a decision`)
  try {
    return decisionOf(answer)
  } catch (thrown) {
    throw new TypeError(`gave a decision that cannot be used: ${messageOf(thrown)}`)
  }
}
