import { asSnapshot, hopIfDue } from '@loopguard/kit'
import { type ContentBlock, createAssistantMessage, type LlmFailure, type ToolCallBlock } from '@loopguard/llm'
import { type AskParts, askModel } from './ask-model.ts'
import { type BatchParts, runBatch } from './batch.ts'
import { closeAfterAsync } from './close-after.ts'
import type { ModelCallOutcome } from './model-call.ts'
import type { StepPlace } from './step-place.ts'
import { admit, openStep, preStep, type PreStepParts } from './pre-step.ts'

/** What a step needs of its agent. */
export type StepParts = PreStepParts & AskParts & BatchParts

export type StepOutcome =
  | { readonly kind: 'rejected' }
  | { readonly kind: 'aborted' }
  /** Nothing entered, and the model was owed nothing: it was not asked. */
  | { readonly kind: 'nothing' }
  | { readonly kind: 'failed'; readonly failure: LlmFailure }
  | {
      readonly kind: 'done'
      /** No tool call was made, or a result concluded the turn. */
      readonly wantsToEnd: boolean
      /** The model ran into its token limit. */
      readonly cut: boolean
    }

/**
 * One step: pre-step, one model call, and the batch of tool calls that it asked for.
 * @throws what a listener of `agent/pre-step` or `agent/request-error` throws, or an append; the claim and the step are closed then too.
 */
export async function runStep(parts: StepParts, place: StepPlace, owesResults: boolean): Promise<StepOutcome> {
  const hop = hopIfDue()
  if (hop !== undefined) await hop
  const entering = await preStep(parts, place, owesResults)
  if (typeof entering === 'string') return { kind: entering }
  openStep(parts, place)
  return closeAfterAsync(
    async () => {
      admit(parts, entering)
      return converse(parts, place)
    },
    () => endStep(parts, place),
  )
}

/** Once more when it is refused: a step that stays open would have every later turn refused, too. */
function endStep({ session }: StepParts, { turn, step }: StepPlace): void {
  const end = (): unknown => session.append('step/end', asSnapshot({ turn, step }))
  try {
    end()
  } catch (refused) {
    end()
    throw refused
  }
}

async function converse(parts: StepParts, place: StepPlace): Promise<StepOutcome> {
  const outcome = await askModel(parts, place)
  if (outcome.kind === 'failed') return outcome
  const content = logAnswer(parts, place, outcome)
  if (outcome.kind === 'interrupted') return { kind: 'aborted' }
  const calls = content.filter((block): block is ToolCallBlock => block.type === 'tool-call')
  const concluded = await runBatch(parts, place, calls)
  return place.signal.aborted ? { kind: 'aborted' } : { kind: 'done', wantsToEnd: calls.length === 0 || concluded, cut: outcome.cut }
}

type Answer = Exclude<ModelCallOutcome, { kind: 'failed' }>

/** Returns the content as it stands in the log. Nothing is logged of an answer that was interrupted before its first word. */
function logAnswer({ agent, session }: StepParts, { turn, step }: StepPlace, outcome: Answer): readonly ContentBlock[] {
  const { content, usage, times } = outcome
  const interrupted = outcome.kind === 'interrupted'
  if (interrupted && content.length === 0) return content
  const { provider, model } = agent.options
  const message = createAssistantMessage({ content, source: { provider, model } })
  const data = {
    turn,
    step,
    message,
    ...(usage !== undefined && { usage }),
    ...(interrupted && { interrupted: true as const }),
    ...times,
  }
  session.append('assistant/message', asSnapshot(data))
  return message.content
}
