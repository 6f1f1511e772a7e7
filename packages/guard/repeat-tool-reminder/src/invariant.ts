import { busOf, hears, type Hook, hooksOf } from '@loopguard/cordis-internals'
import { companion, type Companion, onDispatch } from '@loopguard/invariants/companion'
import type { UserMessage } from '@loopguard/llm'
import type { ToolExecution, ToolExecutionResult } from '@loopguard/tools'
import { keyOf, matches } from './recount.ts'
import { watchLog } from './step-log.ts'

const GUARD = 'repeat-tool-reminder'
const OUR_GUARDS: ReadonlySet<unknown> = new Set([GUARD, 'repeated-failure-reminder', 'timeout-policy'])

const plugin: Companion = companion({
  name: 'repeat-tool-reminder-invariant',
  packageName: '@loopguard/repeat-tool-reminder',
  install(ctx, fail) {
    const bus = busOf(ctx)
    /** The last calls of an agent that a guard has counted. A guard is known by its listener, of which each activation has a new one. */
    const runs = new WeakMap<object, { readonly guard: Hook | undefined; readonly key: string | undefined; readonly length: number }>()
    /** Of a call whose result is still to come: what it was before its review, and whether a reminder is due. */
    const reviews = new WeakMap<WeakKey, { readonly before: ToolExecutionResult; readonly isDue: boolean | undefined }>()
    /** The guard that hears an event: if it is one, and no listener of another plugin, which may keep things from it, stands outside. */
    const guardAt = (event: string, carrier: unknown): Hook | undefined => {
      const heard = (of: string): Hook[] => hooksOf(bus, of).filter((hook) => hears(hook, carrier))
      const [guard, ...more] = heard('tools/post-execute').filter((hook) => nameOf(hook) === GUARD)
      const outermost = heard(event).find((hook) => hook.ctx.fiber === guard?.ctx.fiber || !OUR_GUARDS.has(nameOf(hook)))
      return more.length > 0 || (outermost !== undefined && outermost.ctx.fiber !== guard?.ctx.fiber) ? undefined : guard
    }
    /** Whether a reminder is due; `undefined` when that cannot be said. */
    const recount = ({ agent, parent, name: tool, arguments: args }: ToolExecution, guard: Hook | undefined): boolean | undefined => {
      if (!isObject(agent) || (parent ?? undefined) !== undefined) return false
      const { thresholds, include, exclude } = Object(guard?.ctx.fiber.config) as Record<string, unknown>
      // Another plugin of that name may have other rules.
      if (!isList<number>(thresholds) || !isList<string>(include) || !isList<string>(exclude)) return void runs.delete(agent)
      const isMeant = (pattern: string): boolean => matches(pattern, tool)
      if ((include.length > 0 && !include.some(isMeant)) || exclude.some(isMeant)) return false
      const [last, key] = [runs.get(agent), keyOf(tool, args)]
      const isKnown = last?.guard === guard && last?.key !== undefined && key !== undefined
      const length = !isKnown ? NaN : key === last.key ? last.length + 1 : 1
      runs.set(agent, { guard, key, length })
      return Number.isNaN(length) ? undefined : thresholds.includes(length)
    }
    // At the dispatch, where each event passes once, independent of its listeners.
    onDispatch(ctx, {
      'tools/post-execute'([exec, before], carrier) {
        if (!isObject(exec) || !isObject(before)) return
        const isDue = recount(exec as ToolExecution, guardAt('tools/post-execute', carrier))
        reviews.set(idOf(exec), { before: before as ToolExecutionResult, isDue })
      },
      'agent/pre-step'([event], carrier) {
        const { agent, messages } = Object(event) as Record<string, unknown>
        if (!isObject(agent) || !isList<UserMessage | undefined>(messages)) return
        if (!messages.some((message) => message?.source?.kind === 'user')) return
        runs.set(agent, { guard: guardAt('agent/pre-step', carrier), key: '', length: 0 })
      },
    })
    ctx.on('tools/result', (exec, result) => {
      const { before, isDue } = (isObject(exec) && reviews.get(idOf(exec))) || {}
      if (before === undefined || !isObject(result)) return
      reviews.delete(idOf(exec))
      const isBlocked = result.isError && result.error.info?.code === 'BLOCKED'
      // Its review failed or was vetoed: what the guard has added is gone, and it may not have heard of the call.
      const isLost = result.isError && !isBlocked && !(before.isError && before.error.message === result.error.message)
      if (isLost && isObject(exec.agent)) runs.delete(exec.agent)
      if (isLost || isDue === undefined) return
      const concludes = !before.isError && before.concludesTurn === true && !isBlocked
      const [wanted, shown] = [isDue && !concludes ? 1 : 0, remindersIn(result.additionalContexts).length]
      if (shown !== wanted) fail(`call "${exec.callId}" of tool "${exec.name}" shows ${shown} reminders, the recount expects ${wanted}`)
    })
    watchLog(ctx, fail, remindersIn)
  },
})

export const name: string = plugin.name
export const inject: string[] = plugin.inject
/** Recounts the calls of each agent with a model of its own: each reminder must come when it is due, and stand in the log. */
export const apply: Companion['apply'] = plugin.apply

const remindersIn = (messages: readonly UserMessage[] = []): string[] =>
  messages.filter(({ source }) => source.kind === 'plugin' && source.plugin === GUARD).map(({ id }) => id)
const nameOf = (hook: Hook): unknown => hook.ctx.fiber.runtime?.name
/** A call goes by its token: some hosts show different objects at different stages. */
const idOf = (exec: object): WeakKey => (exec as Partial<ToolExecution>).token ?? exec
const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
const isList = <T>(value: unknown): value is readonly T[] => Array.isArray(value)
