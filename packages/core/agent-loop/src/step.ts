import { createAssistantMessage, type LlmFailure, type LlmRuntime, type ToolCallBlock, type UserMessage, type Bus } from '@loopguard/llm'
import { carrierOf, waterfall } from '@loopguard/tools'
import { type BatchHost, runBatch } from './batch.ts'
import type { Inbox } from './inbox.ts'
import { callModel, type ModelCallOutcome } from './model-call.ts'
import type { RequestBuilder } from './request.ts'
import type { PreStepDecision, RequestErrorDecision } from './types.ts'

/** What a step needs of its agent. */
export interface StepHost extends BatchHost {
  readonly bus: Bus
  readonly llm: LlmRuntime
  readonly inbox: Inbox
  /** Claims from the inbox what the next step is to see. */
  claim(startsTurn: boolean): readonly UserMessage[]
  readonly requests: RequestBuilder
  /** Ids of the contexts that stand in the log: each is appended once, however many results carry it. */
  readonly contextIds: Set<string>
}

export interface StepPlace {
  readonly turn: number
  readonly step: number
  readonly signal: AbortSignal
}

export type StepOutcome =
  | { readonly kind: 'rejected' }
  | { readonly kind: 'aborted' }
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
export async function runStep(host: StepHost, place: StepPlace): Promise<StepOutcome> {
  const entered = await enter(host, place)
  if (entered !== undefined) return entered
  const { turn, step } = place
  try {
    return await converse(host, place)
  } finally {
    host.session.append('step/end', { turn, step })
  }
}

/** Claims, asks `agent/pre-step`, and opens the step. Returns an outcome when there is no step to run. */
async function enter(host: StepHost, place: StepPlace): Promise<StepOutcome | undefined> {
  const { agent, bus, inbox, session } = host
  const { turn, step, signal } = place
  const messages = Object.freeze(host.claim(step === 1))
  let decision: PreStepDecision
  try {
    decision = await waterfall<PreStepDecision>(bus, carrierOf(agent), {
      event: 'agent/pre-step',
      args: [Object.freeze({ agent, messages, turn, step, signal })],
      center: () => ({ kind: 'enter', messages }),
      check: complainOfPreStep,
    })
  } catch (error) {
    if (signal.aborted) inbox.returnClaim()
    else inbox.commitClaim()
    throw error
  }
  if (signal.aborted) {
    // The step never entered: what the canceller did not discard waits again.
    inbox.returnClaim()
    return { kind: 'aborted' }
  }
  if (decision.kind === 'reject') {
    inbox.commitClaim()
    return { kind: 'rejected' }
  }
  try {
    session.append('step/start', { turn, step })
  } catch (error) {
    inbox.returnClaim()
    throw error
  }
  try {
    for (const message of decision.messages) session.append('user/message', message)
    inbox.commitClaim()
  } catch (error) {
    session.append('step/end', { turn, step })
    throw error
  }
  return undefined
}

function complainOfPreStep(value: unknown): string | undefined {
  const decision = value as Partial<PreStepDecision> | null | undefined
  if (decision?.kind === 'reject') return undefined
  if (decision?.kind !== 'enter') return `returned ${shown(value)}, not { kind: 'enter', messages } or { kind: 'reject' }`
  return Array.isArray(decision.messages) && decision.messages.every(isUserMessage)
    ? undefined
    : 'returned messages that are no array of user messages'
}

function isUserMessage(value: unknown): value is UserMessage {
  const message = value as Partial<UserMessage> | null | undefined
  return (
    message?.role === 'user' && typeof message.id === 'string' && Array.isArray(message.content) && typeof message.source?.kind === 'string'
  )
}

async function converse(host: StepHost, place: StepPlace): Promise<StepOutcome> {
  const { agent, session, tools } = host
  const { turn, step, signal } = place
  const outcome = await askModel(host, place)
  if (outcome.kind === 'failed') return outcome
  const { content, usage } = outcome
  const interrupted = outcome.kind === 'interrupted'
  if (!interrupted || content.length > 0) {
    const { provider, model } = agent.options
    const message = createAssistantMessage({ content, source: { provider, model } })
    session.append('assistant/message', {
      turn,
      step,
      message,
      ...(usage !== undefined && { usage }),
      ...(interrupted && { interrupted: true as const }),
    })
  }
  if (interrupted) return { kind: 'aborted' }
  const calls = content.filter((block): block is ToolCallBlock => block.type === 'tool-call')
  const { contexts, concluded } = await runBatch({ agent, session, tools, maxParallel: host.maxParallel }, place, calls)
  for (const context of contexts) {
    if (host.contextIds.has(context.id)) continue
    host.contextIds.add(context.id)
    session.append('user/message', context)
  }
  return signal.aborted ? { kind: 'aborted' } : { kind: 'done', wantsToEnd: calls.length === 0 || concluded, cut: outcome.cut }
}

/** Asks until the model answered, the turn was cancelled, or no listener of `agent/request-error` wants to try again. */
async function askModel(host: StepHost, place: StepPlace): Promise<ModelCallOutcome> {
  const { agent, bus, llm, requests, tools } = host
  const { turn, step, signal } = place
  for (;;) {
    const outcome = await callModel(llm, requests.next(tools.schemas(agent), signal))
    if (outcome.kind !== 'failed') return outcome
    const { failure } = outcome
    const decision = await waterfall<RequestErrorDecision>(bus, carrierOf(agent), {
      event: 'agent/request-error',
      args: [Object.freeze({ agent, turn, step, failure, signal })],
      center: () => undefined,
      check: (value) =>
        value === undefined || (value as { kind?: unknown } | null)?.kind === 'retry'
          ? undefined
          : `returned ${shown(value)}, not { kind: 'retry' } or undefined`,
    })
    if (signal.aborted) return { kind: 'interrupted', content: [], usage: undefined }
    if (decision === undefined) return outcome
  }
}

function shown(value: unknown): string {
  try {
    return JSON.stringify(value)?.slice(0, 200) ?? String(value)
  } catch {
    return Object.prototype.toString.call(value)
  }
}
