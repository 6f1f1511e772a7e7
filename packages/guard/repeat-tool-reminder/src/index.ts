import type { Context, Logger } from '@deepseek-ai/cordis'
import type { PreStepEvent } from '@loopguard/agent-loop'
import type { UserMessage } from '@loopguard/llm'
import { createRepeatTracker, type RepeatTracker } from '@loopguard/repeat'
import type { PostToolDecision, ToolExecution, ToolExecutionResult } from '@loopguard/tools'
import { type Config, name } from './config.ts'
import { reminderMessage } from './message.ts'

export { Config, name } from './config.ts'

/** The guard listens to events alone: it needs no service. */
export const inject: string[] = []

/**
 * Counts the equal calls that each agent makes in a row, and reminds the model at each threshold. Both listeners stand first in their
 * waterfall and always delegate. A fault of the guard's own is logged at error level, and changes no result.
 *
 * @throws TypeError `REPEAT_TOOL_REMINDER_CONFIG` that lists every fault of `config`. Cordis, which asks {@link Config} first, never
 * comes to it.
 */
export function apply(ctx: Context, config?: Config): void {
  const tracker = createRepeatTracker(config ?? {})
  const contained = containing(ctx.logger(name))

  ctx.on(
    'tools/post-execute',
    (exec, result, next) => {
      const text = contained<string | undefined>('count a call', undefined, () => count(exec, tracker))
      if (text === undefined) return next()
      return remind(next, (decision) => contained('remind', decision, () => withReminder(decision, result, text)))
    },
    { prepend: true },
  )

  ctx.on(
    'agent/pre-step',
    (event, next) => {
      contained('look for a user message', undefined, () => startAfresh(event, tracker))
      return next()
    },
    { prepend: true },
  )
}

/** The reminder that is due, unless what is still to be asked makes it pointless. */
function count({ agent, parent, name: tool, arguments: args }: ToolExecution, tracker: RepeatTracker): string | undefined {
  return isObject(agent) && (parent ?? undefined) === undefined ? tracker.observe(agent, tool, args) : undefined
}

async function remind(
  next: () => Promise<PostToolDecision>,
  complete: (decision: PostToolDecision) => PostToolDecision,
): Promise<PostToolDecision> {
  return complete(await next())
}

/** The decision with the reminder first. What is no decision is for the host to judge, and stays what it is. */
function withReminder(decision: PostToolDecision, result: ToolExecutionResult, text: string): PostToolDecision {
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
function startAfresh({ agent, messages }: PreStepEvent, tracker: RepeatTracker): void {
  if (messages.some((message: UserMessage | undefined) => message?.source?.kind === 'user')) tracker.reset(agent)
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
