import type { Context, Logger } from '@deepseek-ai/cordis'
import { untraced } from '@loopguard/cordis-internals'
import type { PreStepEvent } from '@loopguard/agent-loop'
import type { UserMessage } from '@loopguard/llm'
import type { PostToolDecision, ToolExecution, ToolExecutionResult } from '@loopguard/tools'
import { reminderMessage } from './message.ts'

/** A call of an agent that is not nested in another one. */
export interface ReviewedCall {
  readonly agent: object
  readonly name: string
  readonly args: unknown
  /** The result as `tools/post-execute` gets it. */
  readonly result: unknown
  /** What the event was dispatched for: with it, `hears` of `@loopguard/cordis-internals` tells who else gets it. */
  readonly carrier: unknown
}

/** What a guard knows: when to say what. */
export interface Advice {
  /** Counts a call, and gives the text of the reminder that is due. */
  count(call: ReviewedCall): string | undefined
  /** A user has spoken to this agent. */
  startAfresh(agent: object): void
}

/**
 * Puts a guard that reminds the model into a context. It counts in `tools/post-execute`, and delivers a message of its own with the source
 * `{ kind: 'plugin', plugin: name }`. Both listeners stand first in their waterfall and always delegate. A fault of the guard's own is logged
 * at error level, and changes no result.
 */
export function advise(ctx: Context, name: string, advice: Advice): void {
  const contained = containing(ctx.logger(name))

  ctx.on(
    'tools/post-execute',
    untraced(function (this: unknown, exec, result, next) {
      const text = contained<string | undefined>('count a call', undefined, () => count(exec, result, this, advice))
      if (text === undefined) return next()
      return remind(next, (decision) => contained('remind', decision, () => withReminder(decision, result, name, text)))
    }),
    { prepend: true },
  )

  ctx.on(
    'agent/pre-step',
    untraced((event, next) => {
      contained('look for a user message', undefined, () => startAfresh(event, advice))
      return next()
    }),
    { prepend: true },
  )
}

/** The reminder that is due, unless what is still to be asked makes it pointless. */
function count(exec: ToolExecution, result: unknown, carrier: unknown, advice: Advice): string | undefined {
  const { agent, parent, name, arguments: args } = exec
  return isObject(agent) && (parent ?? undefined) === undefined ? advice.count({ agent, name, args, result, carrier }) : undefined
}

async function remind(
  next: () => Promise<PostToolDecision>,
  complete: (decision: PostToolDecision) => PostToolDecision,
): Promise<PostToolDecision> {
  return complete(await next())
}

/** The decision with the reminder first. What is no decision is for the host to judge, and stays what it is. */
function withReminder(decision: PostToolDecision, result: ToolExecutionResult, name: string, text: string): PostToolDecision {
  if (!isObject(decision)) return decision
  const { kind, additionalContexts: others = [] } = decision
  // No request follows a result that concludes the turn, unless it is blocked.
  const concludes = (result as { concludesTurn?: unknown } | undefined)?.concludesTurn === true
  const follows = kind === 'block' || (kind === 'accept' && !concludes)
  if (!follows || !Array.isArray(others)) return decision
  const reminder: object = reminderMessage(name, text)
  return { ...decision, additionalContexts: [reminder as UserMessage, ...(others as readonly UserMessage[])] }
}

/** What a user says may ask for the same call again. */
function startAfresh({ agent, messages }: PreStepEvent, advice: Advice): void {
  if (messages.some((message: UserMessage | undefined) => message?.source?.kind === 'user')) advice.startAfresh(agent)
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** Runs the guard's own work: a throw is logged, and the fallback taken. */
function containing(log: Logger): <T>(what: string, fallback: T, work: () => T) => T {
  return (what, fallback, work) => {
    try {
      return work()
    } catch (thrown) {
      try {
        log.error(
          `could not ${what}, the call goes on as if nothing was due: ${thrown instanceof Error ? thrown.message : String(thrown)}`,
          thrown,
        )
      } catch {
        // Neither a value that cannot be shown nor a log that fails is a reason to fail the call.
      }
      return fallback
    }
  }
}
