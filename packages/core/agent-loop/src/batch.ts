import { type CallId, createToolResultMessage, snapshot, text, type ToolCallBlock, type UserMessage } from '@loopguard/llm'
import { TOOL_NOT_STARTED, TOOL_OUTCOME_UNKNOWN, type Session } from '@loopguard/session'
import type { ToolExecutionInput, ToolExecutionResult, ToolRuntime } from '@loopguard/tools'
import { parseArguments } from './arguments.ts'
import type { Agent } from './types.ts'

/** What a batch needs of its surroundings. */
export interface BatchHost {
  readonly agent: Agent
  readonly tools: ToolRuntime
  readonly session: Session
  readonly maxParallel: number
}

/** Where in the log a batch stands. */
export interface BatchPlace {
  readonly turn: number
  readonly step: number
  readonly signal: AbortSignal
}

export interface BatchOutcome {
  /** Contexts of all results, in call order. */
  readonly contexts: readonly UserMessage[]
  /** Some result concluded the turn. */
  readonly concluded: boolean
}

/**
 * Runs the tool calls of one message. Policy, post-execute and log follow the order of the model whatever finishes first; only the
 * bodies of consecutive concurrency-safe calls overlap. Any other call waits for all before it, and all after it wait for it.
 *
 * @throws what an append throws, once every started body has settled and every call has an answer, as far as the log takes one.
 */
export async function runBatch(host: BatchHost, place: BatchPlace, calls: readonly ToolCallBlock[]): Promise<BatchOutcome> {
  const batch = new Batch(host, place)
  for (const call of calls) {
    if (batch.failed) break
    await batch.start(call)
  }
  await batch.settle()
  if (batch.failed) {
    batch.answerTheRest(calls)
    throw batch.failure
  }
  return { contexts: batch.contexts, concluded: batch.concluded }
}

class Batch {
  readonly contexts: UserMessage[] = []
  concluded = false
  failed = false
  failure: unknown
  private readonly host: BatchHost
  private readonly place: BatchPlace
  private readonly bodies = new Set<Promise<void>>()
  private readonly logged = new Set<CallId>()
  private readonly answered = new Set<CallId>()
  /** Settles when all calls so far have their results in the log. Never rejects. */
  private finished: Promise<void> = Promise.resolve()

  constructor(host: BatchHost, place: BatchPlace) {
    this.host = host
    this.place = place
  }

  async start(call: ToolCallBlock): Promise<void> {
    const { tools, agent, maxParallel } = this.host
    const { signal } = this.place
    const input: ToolExecutionInput = {
      callId: call.id,
      name: call.name,
      arguments: snapshot(parseArguments(call.arguments)),
      signal,
      agent,
    }
    const exclusive = tools.executionMode(input).kind !== 'parallel'
    if (exclusive) await this.finished
    else while (this.bodies.size >= maxParallel) await Promise.race(this.bodies)

    const prepared = await tools.prepare(input)
    if (!this.attempt(() => this.logCall(call))) return
    const body = prepared.dispatch().finally(() => this.bodies.delete(body))
    this.bodies.add(body)
    const before = this.finished
    this.finished = before.then(async () => {
      await body
      const result = await prepared.finish()
      this.attempt(() => this.logResult(call, result))
    })
    if (exclusive) await this.finished
  }

  async settle(): Promise<void> {
    await this.finished
  }

  /** After a failed append: what still can be answered is, so that the next request is not refused for a dangling call. */
  answerTheRest(calls: readonly ToolCallBlock[]): void {
    for (const { id } of calls) {
      if (this.answered.has(id)) continue
      const started = this.logged.has(id)
      const code = started ? TOOL_OUTCOME_UNKNOWN : TOOL_NOT_STARTED
      const why = started ? 'the outcome of this tool call could not be logged' : 'this tool call was not started'
      this.attempt(() => this.append(id, true, [text(`Error: ${why}`)], { name: 'ToolInterruptedError', code }))
    }
  }

  private logCall({ id, name, arguments: raw }: ToolCallBlock): void {
    const { turn, step } = this.place
    this.host.session.append('tool/call', { turn, step, callId: id, name, arguments: raw })
    this.logged.add(id)
  }

  private logResult({ id }: ToolCallBlock, result: ToolExecutionResult): void {
    this.append(id, result.isError, result.content, result.isError ? result.error.info : undefined)
    if (!result.isError && result.concludesTurn === true) this.concluded = true
    if (result.additionalContexts !== undefined) this.contexts.push(...result.additionalContexts)
  }

  private append(
    id: CallId,
    isError: boolean,
    content: ToolExecutionResult['content'],
    error: { name: string; code: string } | undefined,
  ): void {
    const { turn, step } = this.place
    const message = createToolResultMessage({ callId: id, content, isError })
    this.host.session.append('tool/result', { turn, step, message, ...(error !== undefined && { error }) })
    this.answered.add(id)
  }

  /** Keeps the first failure; once there is one, later calls are not started. */
  private attempt(append: () => void): boolean {
    try {
      append()
      return true
    } catch (error) {
      if (!this.failed) this.failure = error
      this.failed = true
      return false
    }
  }
}
