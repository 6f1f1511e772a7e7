import { asSnapshot } from '@loopguard/kit'
import { createToolResultMessage, type MessageId, text, type ToolCallBlock, type UserMessage } from '@loopguard/llm'
import { TOOL_NOT_STARTED, TOOL_OUTCOME_UNKNOWN, type Session } from '@loopguard/session'
import type { PreparedCall, ToolExecutionInput, ToolExecutionResult, ToolRuntime } from '@loopguard/tools'
import { parseArguments } from './arguments.ts'
import { factsOf, type ResultFacts } from './result-facts.ts'
import { barrier } from './barrier.ts'
import { type GivingUpParts, tellGivenUp } from './giving-up.ts'
import type { StepPlace } from './step-place.ts'
import type { Agent } from './types.ts'

/** What a batch needs of its surroundings. */
export interface BatchParts extends GivingUpParts {
  readonly agent: Agent
  readonly tools: ToolRuntime
  readonly session: Session
  readonly maxParallel: number
  /** Ids of the user messages that stand in the log: a context is appended once, however many results carry it. */
  readonly loggedIds: Set<MessageId>
}

/**
 * Runs the tool calls of one message. Policy, post-execute and log follow the order of the model, also when a later call finishes
 * first; only the bodies of consecutive concurrency-safe calls overlap. Any other call waits for all before it, and all after it wait
 * for it. The contexts of all results are logged after the last of them.
 *
 * @returns whether some result concluded the turn.
 * @throws what an append or a barrier throws, once every started body has settled and every call has an answer, as far as the log takes one.
 */
export async function runBatch(parts: BatchParts, place: StepPlace, calls: readonly ToolCallBlock[]): Promise<boolean> {
  if (calls.length === 0) return false
  const batch = new Batch(parts, place)
  for (const call of calls) await batch.start(call)
  await batch.finished
  if (batch.failed) batch.answerTheRest(calls)
  batch.logContexts()
  if (batch.failed) throw batch.failure
  return batch.concluded
}

class Batch {
  concluded = false
  failed = false
  failure: unknown
  /** Settles when all calls so far have their results in the log. Never rejects. */
  finished: Promise<void> = Promise.resolve()
  private readonly parts: BatchParts
  private readonly place: StepPlace
  private readonly bodies = new Set<Promise<void>>()
  /** By the block: models give one id to several calls now and then. */
  private readonly logged = new Set<ToolCallBlock>()
  private readonly answered = new Set<ToolCallBlock>()
  private readonly contexts: UserMessage[] = []

  constructor(parts: BatchParts, place: StepPlace) {
    this.parts = parts
    this.place = place
  }

  /** Settles when the next call may start. Starts nothing after a failure. Never rejects. */
  async start(call: ToolCallBlock): Promise<void> {
    try {
      const { tools, agent, maxParallel } = this.parts
      const { signal } = this.place
      const input: ToolExecutionInput = {
        callId: call.id,
        name: call.name,
        arguments: parseArguments(call.arguments),
        signal,
        agent,
      }
      const exclusive = tools.executionMode(input).kind !== 'parallel'
      if (exclusive) await this.finished
      else while (this.bodies.size >= maxParallel) await Promise.race(this.bodies)
      if (this.failed) return
      const prepared = await tools.prepare(input)
      try {
        this.logCall(call)
      } catch (error) {
        // What was begun is ended, although its result is not used.
        await prepared.finish()
        throw error
      }
      const forget = this.place.patience.whenOver((afterMs) => this.giveUp(call, prepared, afterMs))
      const body = this.dispatch(prepared).finally(() => {
        forget()
        this.bodies.delete(body)
      })
      // Bodies that overlap are awaited one after the other: a rejection must not wait for its turn unhandled.
      body.catch(() => {})
      this.bodies.add(body)
      this.finished = this.finish(call, this.finished, body, prepared)
      if (exclusive) await this.finished
    } catch (error) {
      this.fail(error)
    }
  }

  /** A body has effects: none before the log is sure to say that it was started. */
  private dispatch(prepared: PreparedCall): Promise<void> {
    const durable = barrier(this.parts.session, this.place.signal)
    if (durable === undefined) return prepared.dispatch()
    return durable.then(
      () => prepared.dispatch(),
      async (lost: unknown) => {
        this.fail(lost)
        await prepared.finish()
        throw lost
      },
    )
  }

  /** After a failure: what still can be answered is, so that the next request is not refused for a dangling call. */
  answerTheRest(calls: readonly ToolCallBlock[]): void {
    for (const call of calls) {
      if (this.answered.has(call)) continue
      const started = this.logged.has(call)
      const code = started ? TOOL_OUTCOME_UNKNOWN : TOOL_NOT_STARTED
      const why = started ? 'the outcome of this tool call could not be logged' : 'this tool call was not started'
      this.attempt(() => this.append(call, true, [text(`Error: ${why}`)], { error: { name: 'ToolInterruptedError', code } }))
    }
  }

  logContexts(): void {
    const { session, loggedIds } = this.parts
    for (const context of this.contexts) {
      if (loggedIds.has(context.id)) continue
      this.attempt(() => {
        session.append('user/message', context)
        loggedIds.add(context.id)
      })
    }
  }

  private async finish(call: ToolCallBlock, before: Promise<void>, body: Promise<void>, prepared: PreparedCall): Promise<void> {
    try {
      await before
      await body
      this.logResult(call, await prepared.finish(), prepared.bodyMs())
    } catch (error) {
      this.fail(error)
    }
  }

  private giveUp({ id, name }: ToolCallBlock, prepared: PreparedCall, afterMs: number): void {
    const late = prepared.abandon()
    if (late !== undefined) tellGivenUp(this.parts, this.place, `the tool "${name}" (call "${id}")`, afterMs, late)
  }

  private logCall(call: ToolCallBlock): void {
    const { turn, step } = this.place
    const { id, name, arguments: raw } = call
    this.parts.session.append('tool/call', asSnapshot({ turn, step, callId: id, name, arguments: raw }))
    this.logged.add(call)
  }

  private logResult(call: ToolCallBlock, result: ToolExecutionResult, bodyMs: number | undefined): void {
    this.append(call, result.isError, result.content, factsOf(result, bodyMs))
    if (!result.isError && result.concludesTurn === true) this.concluded = true
    if (result.additionalContexts !== undefined) this.contexts.push(...result.additionalContexts)
  }

  private append(call: ToolCallBlock, isError: boolean, content: ToolExecutionResult['content'], facts: ResultFacts): void {
    const { turn, step } = this.place
    const message = createToolResultMessage({ callId: call.id, content, isError })
    this.parts.session.append('tool/result', asSnapshot({ turn, step, message, ...facts }))
    this.answered.add(call)
  }

  private attempt(append: () => void): void {
    try {
      append()
    } catch (error) {
      this.fail(error)
    }
  }

  /** Keeps the first failure; once there is one, later calls are not started. */
  private fail(error: unknown): void {
    if (!this.failed) this.failure = error
    this.failed = true
  }
}
