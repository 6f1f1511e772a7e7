import type { Agent } from '@loopguard/agent-loop'
import { busOf, hears, type Hook, hooksOf } from '@loopguard/cordis-internals'
import { companion, type Companion, listen, onDispatch } from '@loopguard/invariants/companion'
import type { UserMessage } from '@loopguard/llm'
import { callIdentity, toolMatcher } from '@loopguard/repeat'
import type { Session, SessionEvent } from '@loopguard/session'
import { carrierOf, type ToolExecution } from '@loopguard/tools'
import type {} from './index.ts'
import { Recount } from './recount.ts'

const OUR_GUARDS: ReadonlySet<unknown> = new Set(['budget', 'repeat-tool-reminder', 'repeated-failure-reminder', 'timeout-policy'])
/** What is asked before a step; time passes also after that. */
const BEFORE_STEPS = ['maxStepsPerTurn', 'maxStepsPerAgent', 'maxTokensPerTurn', 'maxTokensPerAgent']
const BEFORE_CALLS = ['maxCallsPerTurn', 'maxCallsPerAgent', 'maxEqualCalls']

/** A budget that is loaded, known by its listener, of which each activation has a new one. */
interface Budget {
  readonly hook: Hook
  readonly config: Readonly<Record<string, unknown>>
  readonly isMeant: (tool: string) => boolean
}

/** Limits that were reached before a step or a call, which must not be. */
interface Due {
  readonly budget: Budget
  readonly limits: readonly string[]
}

const plugin: Companion = companion({
  name: 'budget-invariant',
  packageName: '@loopguard/budget',
  inject: ['agentLoop'],
  install(ctx, fail) {
    const bus = busOf(ctx)
    const { agentLoop } = ctx
    const budgets = new WeakMap<Hook, Budget>()
    const counts = new WeakMap<Session, { readonly hook: Hook; readonly recount: Recount }>()
    const runs = new WeakMap<Agent, { readonly hook: Hook; readonly key: string; readonly length: number }>()
    const steps = new WeakMap<Session, Due>()
    const calls = new WeakMap<WeakKey, Due>()

    /** The budget of an agent, if there is one alone. */
    const budgetOf = (agent: Agent): Budget | undefined => {
      const [hook, ...more] = hooksOf(bus, 'agent/pre-step').filter((each) => hears(each, carrierOf(agent)) && nameOf(each) === 'budget')
      if (hook === undefined || more.length > 0) return undefined
      let budget = budgets.get(hook)
      if (budget === undefined) budgets.set(hook, (budget = readBudget(hook)))
      return budget
    }
    const recountOf = (session: Session, { hook, isMeant }: Budget): Recount => {
      const known = counts.get(session)
      if (known?.hook === hook) return known.recount
      const recount = new Recount(session.events, isMeant)
      counts.set(session, { hook, recount })
      return recount
    }
    /** Whether the budget hears of an event whatever others do. */
    const standsFirst = (agent: Agent, event: string, { hook }: Budget): boolean => {
      const first = hooksOf(bus, event).find(
        (each) => hears(each, carrierOf(agent)) && (each.ctx.fiber === hook.ctx.fiber || !OUR_GUARDS.has(nameOf(each))),
      )
      return first?.ctx.fiber === hook.ctx.fiber
    }
    const reached = (session: Session, budget: Budget, keys: readonly string[], run = 0): string[] =>
      keys.filter((key) => {
        const value = budget.config[key]
        if (typeof value !== 'number') return false
        return key === 'maxEqualCalls' ? run > value : recountOf(session, budget).used(key, 0) >= value
      })
    const isUntold = (session: Session, { budget, limits }: Due): string | undefined =>
      limits.find((limit) => !recountOf(session, budget).hasTold(limit, budget.config[limit]))

    onDispatch(ctx, {
      'agent/pre-step'([event]) {
        const { agent, messages } = event as { readonly agent: Agent; readonly messages: readonly UserMessage[] }
        const budget = budgetOf(agent)
        steps.delete(agent.session)
        if (budget === undefined) return
        if (messages.some(({ source }) => source.kind === 'user')) {
          if (standsFirst(agent, 'agent/pre-step', budget)) runs.set(agent, { hook: budget.hook, key: '', length: 0 })
          else runs.delete(agent)
        }
        const limits = reached(agent.session, budget, BEFORE_STEPS)
        if (limits.length > 0) steps.set(agent.session, { budget, limits })
      },
      'tools/pre-execute'([exec]) {
        const { agent, parent, name: tool, arguments: args, token } = exec as ToolExecution & { readonly agent?: Agent }
        if (agent?.session === undefined || parent !== undefined) return
        const budget = budgetOf(agent)
        if (budget === undefined || !budget.isMeant(tool)) return
        const last = runs.get(agent)
        const key = budget.config['maxEqualCalls'] === undefined ? '' : callIdentity(tool, args)
        const isKnown = last?.hook === budget.hook && standsFirst(agent, 'tools/pre-execute', budget)
        const length = !isKnown ? NaN : key === last.key ? last.length + 1 : 1
        runs.set(agent, { hook: budget.hook, key, length })
        const limits = reached(agent.session, budget, BEFORE_CALLS, length)
        if (limits.length > 0) calls.set(token, { budget, limits })
      },
      'tools/execute'([exec]) {
        const { agent, token, callId, name: tool } = exec as ToolExecution & { readonly agent?: Agent }
        const due = calls.get(token)
        if (agent === undefined || due === undefined || budgetOf(agent) !== due.budget) return
        fail(`agent "${agent.id}": the call "${callId}" of "${tool}" runs beyond ${due.limits.join(' and ')}`)
      },
      'session/event'([session, event]) {
        const { type, data, time } = event as SessionEvent
        if (type !== 'budget/reached') return
        const agent = agentLoop.get((session as Session).id)
        if (agent === undefined) return
        const budget = budgetOf(agent)
        if (budget === undefined) return
        const { limit, value } = data
        const where = `session "${agent.id}": budget/reached of ${String(limit)} (${String(value)})`
        const recount = recountOf(agent.session, budget)
        if (budget.config[limit] !== value) fail(`${where} is no limit that is set`)
        if (recount.hasTold(limit, value)) fail(`${where} is told again`)
        const used = limit === 'maxEqualCalls' ? (runs.get(agent)?.length ?? NaN) - 1 : recount.used(limit, time)
        if (used < value) fail(`${where} comes at ${used}`)
      },
    })
    listen(ctx, 'tools/result', ({ agent, token, callId }) => {
      const due = calls.get(token)
      if (due === undefined || agent === undefined || budgetOf(agent as Agent) !== due.budget) return
      const limit = isUntold((agent as Agent).session, due)
      if (limit !== undefined) fail(`agent "${agent.id}": the call "${callId}" met ${limit}, and the log does not say so`)
    })
    listen(ctx, 'session/event', (session, { type, data }) => {
      if (type !== 'assistant/message' && type !== 'request/failed' && type !== 'turn/end') return
      const due = steps.get(session)
      const agent = agentLoop.get(session.id)
      if (due === undefined || agent === undefined || budgetOf(agent) !== due.budget) return
      steps.delete(session)
      if (type !== 'turn/end') fail(`agent "${agent.id}": the model was asked in step ${data.step}, beyond ${due.limits.join(' and ')}`)
      const limit = isUntold(session, due)
      if (limit !== undefined) fail(`agent "${agent.id}": a turn met ${limit}, and the log does not say so`)
    })
  },
})

export const name: string = plugin.name
export const inject: string[] = plugin.inject
/** Recounts what each agent uses: no step and no call comes beyond a limit, and each limit that acts stands in the log, once. */
export const apply: Companion['apply'] = plugin.apply

function readBudget(hook: Hook): Budget {
  const config = Object(hook.ctx.fiber.config) as Record<string, unknown>
  const { include, exclude } = config
  return { hook, config, isMeant: toolMatcher(patternsOf(include), patternsOf(exclude)) }
}

const patternsOf = (value: unknown): readonly string[] => (Array.isArray(value) ? (value as readonly string[]) : [])
const nameOf = (hook: Hook): unknown => hook.ctx.fiber.runtime?.name
