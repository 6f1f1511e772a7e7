// What the companions of reminding guards share: it re-derives from events what a guard must have said, with nothing of the guard.
import type { Context } from '@deepseek-ai/cordis'
import { busOf } from '@loopguard/cordis-internals'
import { companion, type Companion, listen, onDispatch } from '@loopguard/invariants/companion'
import type { UserMessage } from '@loopguard/llm'
import type { ToolExecution, ToolExecutionResult } from '@loopguard/tools'
import type { Outcome } from '@loopguard/repeat'
import { type GuardInPlace, Places } from './in-place.ts'
import { outcomeOf } from './outcome.ts'
import { watchLog } from './step-log.ts'

export { changeOf, type Change, type Seen, seenOf } from './change.ts'
export type { GuardInPlace } from './in-place.ts'
export { isList, keyOf, matches } from './recount.ts'
export { watchSteps } from './steps.ts'

/** A call at its review, of an agent and not nested. `guard` stands for the activation of the guard that counts it. */
export interface RecountedCall {
  readonly agent: object
  readonly name: string
  readonly args: unknown
  /** What it came to, if that can be read. */
  readonly outcome: () => Outcome | undefined
  readonly guard: GuardInPlace
  /** The activations of another guard that count it too. */
  readonly beside: (name: string) => readonly GuardInPlace[]
}

/** A small model of a guard. */
export interface Recount {
  /** Whether a reminder is due; `undefined` when that cannot be said. */
  isDue(call: RecountedCall): boolean | undefined
  /** A user has spoken. */
  startAfresh(agent: object, guard: GuardInPlace | undefined): void
  /** A review failed or was vetoed, or not one guard alone counts a call: what the guard knows of this agent is not known any more. */
  lose(agent: object): void
}

/** Each reminder must come when the model says so, and stand in the log after the results of its step. */
export function reminderCompanion(guardName: string, packageName: string, recountOf: (ctx: Context) => Recount): Companion {
  const remindersIn = (messages: readonly UserMessage[]): string[] =>
    messages.filter(({ source }) => source.kind === 'plugin' && source.plugin === guardName).map(({ id }) => id)
  return companion({
    name: `${guardName}-invariant`,
    packageName,
    install(ctx, fail) {
      const recount = recountOf(ctx)
      const places = new Places(busOf(ctx))
      const seeResult = watchLog(ctx, fail, remindersIn)
      /** Of a call whose result is still to come: what it was before its review, and whether a reminder is due. */
      const reviews = new WeakMap<WeakKey, { readonly before: ToolExecutionResult; readonly isDue: boolean | undefined }>()
      const isDue = ({ agent, parent, name, arguments: args }: ToolExecution, result: unknown, carrier: unknown): boolean | undefined => {
        if (!isObject(agent) || (parent ?? undefined) !== undefined) return false
        const guard = places.at('tools/post-execute', guardName, carrier)
        if (guard === undefined) {
          recount.lose(agent)
          return undefined
        }
        return recount.isDue({
          agent,
          name,
          args,
          outcome: () => readable(result),
          guard,
          beside: (other) => places.of(other, carrier),
        })
      }
      // At the dispatch, where each event passes once, independent of its listeners.
      onDispatch(ctx, {
        'tools/post-execute'(args, carrier) {
          const exec = args[0]
          const before = args[1]
          if (!isObject(exec) || !isObject(before)) return
          reviews.set(idOf(exec), { before: before as ToolExecutionResult, isDue: isDue(exec as ToolExecution, before, carrier) })
        },
        'agent/pre-step'([event], carrier) {
          const { agent, messages } = Object(event) as Record<string, unknown>
          if (!isObject(agent) || !Array.isArray(messages)) return
          if (!(messages as readonly (UserMessage | undefined)[]).some((message) => message?.source?.kind === 'user')) return
          recount.startAfresh(agent, places.at('agent/pre-step', guardName, carrier))
        },
      })
      listen(ctx, 'tools/result', (exec, result) => {
        if (!isObject(exec) || !isObject(result)) return
        seeResult(exec, result)
        const id = idOf(exec)
        const review = reviews.get(id)
        if (review === undefined) return
        reviews.delete(id)
        const { before, isDue: isWanted } = review
        const isBlocked = result.isError && result.error.info?.code === 'BLOCKED'
        // Its review failed or was vetoed: what the guard has added is gone, and it may not have heard of the call.
        const isLost = result.isError && !isBlocked && !(before.isError && before.error.message === result.error.message)
        if (isLost && isObject(exec.agent)) recount.lose(exec.agent)
        if (isLost || isWanted === undefined) return
        const concludes = !before.isError && before.concludesTurn === true && !isBlocked
        const wanted = isWanted && !concludes ? 1 : 0
        const shown = result.additionalContexts === undefined ? 0 : remindersIn(result.additionalContexts).length
        if (shown !== wanted) fail(`call "${exec.callId}" of tool "${exec.name}" shows ${shown} reminders, the recount expects ${wanted}`)
      })
    },
  })
}

function readable(result: unknown): Outcome | undefined {
  try {
    return outcomeOf(result)
  } catch {
    return undefined
  }
}

/** A call goes by its token: some hosts show different objects at different stages. */
const idOf = (exec: object): WeakKey => (exec as Partial<ToolExecution>).token ?? exec
const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
