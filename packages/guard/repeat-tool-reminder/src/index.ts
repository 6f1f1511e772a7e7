import type { Context, Logger } from '@deepseek-ai/cordis'
import type { PreStepEvent } from '@loopguard/agent-loop'
import type { UserMessage } from '@loopguard/llm'
import type { PostToolDecision, ToolExecution, ToolExecutionResult } from '@loopguard/tools'
import { Chains } from './chain.ts'
import { type Config, name, type Settings, settingsOf } from './config.ts'
import { identityOf } from './identity.ts'
import { reminderMessage, reminderText } from './reminder.ts'

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
  const settings = settingsOf(config)
  const chains = new Chains()
  const contained = containing(ctx.logger(name))

  ctx.on(
    'tools/post-execute',
    (exec, result, next) => {
      const due = contained<Due | undefined>('count a call', undefined, () => count(exec, result, settings, chains))
      if (due === undefined) return next()
      return remind(next, (decision) => contained('remind', decision, () => withReminder(decision, exec, due, settings)))
    },
    { prepend: true },
  )

  ctx.on(
    'agent/pre-step',
    (event, next) => {
      contained('look for a user message', undefined, () => startAfresh(event, chains))
      return next()
    },
    { prepend: true },
  )
}

/** A reminder that is due, unless what is still to be asked makes it pointless. */
interface Due {
  readonly run: number
  /** The result concludes the turn, if nothing blocks it: no request would follow. */
  readonly concludes: boolean
}

function count(exec: ToolExecution, result: ToolExecutionResult, { tracks, thresholds }: Settings, chains: Chains): Due | undefined {
  const { agent, name: tool } = exec
  if (!isObject(agent) || (exec.parent ?? undefined) !== undefined || !tracks(tool)) return undefined
  let identity: string
  try {
    identity = identityOf(tool, exec.arguments)
  } catch (thrown) {
    // Whatever call that was, it was not seen to be the last one again.
    chains.forget(agent)
    throw thrown
  }
  const run = chains.count(agent, identity)
  return thresholds.has(run) ? { run, concludes: (result as { concludesTurn?: unknown } | undefined)?.concludesTurn === true } : undefined
}

async function remind(
  next: () => Promise<PostToolDecision>,
  complete: (decision: PostToolDecision) => PostToolDecision,
): Promise<PostToolDecision> {
  return complete(await next())
}

/** The decision with the reminder first. What is no decision is for the host to judge, and stays what it is. */
function withReminder(decision: PostToolDecision, exec: ToolExecution, { run, concludes }: Due, settings: Settings): PostToolDecision {
  if (!isObject(decision)) return decision
  const { kind, additionalContexts: others = [] } = decision
  const follows = kind === 'block' || (kind === 'accept' && !concludes)
  if (!follows || !Array.isArray(others)) return decision
  const reminder: object = reminderMessage(name, reminderText(exec.name, exec.arguments, run, settings))
  return { ...decision, additionalContexts: [reminder as UserMessage, ...(others as readonly UserMessage[])] }
}

/** What a user says may ask for the same call again. */
function startAfresh({ agent, messages }: PreStepEvent, chains: Chains): void {
  if (messages.some((message: UserMessage | undefined) => message?.source?.kind === 'user')) chains.forget(agent)
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
