import type { Context } from '@deepseek-ai/cordis'
import type { Agent, PreStepDecision } from '@loopguard/agent-loop'
import { plain, untraced } from '@loopguard/cordis-internals'
import type { Session } from '@loopguard/session'
import { agentOf } from '@loopguard/tools'
import { CallLimits } from './call-limits.ts'
import { type Config, name, settingsOf } from './config.ts'
import { ledgers } from './ledger.ts'
import type { Limit } from './limits.ts'
import { Notices } from './notices.ts'
import { StepLimits } from './step-limits.ts'
import { TurnClock } from './turn-clock.ts'
import { Unreported } from './unreported.ts'

export { Config, name } from './config.ts'
export type { Limit } from './limits.ts'
export type { BudgetCause } from './step-limits.ts'

declare module '@loopguard/session' {
  interface SessionEventMap {
    /**
     * A limit has acted: `limit` is its key, `value` what it is set to, and `step` the one that it did not let in or in which it acted.
     * Once a turn for `max…PerTurn`, `maxTurnMs` and `maxEqualCalls`, once an agent for `max…PerAgent` and `maxAgentMs`.
     */
    'budget/reached': { readonly turn: number; readonly step: number; readonly limit: Limit; readonly value: number }
  }
}

/** It cancels agents, and denies calls. */
export const inject: string[] = ['agentLoop', 'tools']

const REJECT: PreStepDecision = Object.freeze({ kind: 'reject', keep: true })

/**
 * Stops each agent that reaches a limit: before a step (the turn ends `blocked`), within one when its time is over (`aborted`, with a
 * {@link BudgetCause}), or before a call (denied). What waits in the inbox stays there. Through an agent's `ctx` it caps that agent alone.
 */
export function apply(ctx: Context, config: Config): void {
  const settings = settingsOf(config)
  const log = ctx.logger(name)
  const ledgerOf = ledgers(settings.tracks)
  const notices = new Notices(ledgerOf, log)
  const callLimits = settings.limits.filter(({ counts }) => counts === 'calls' || counts === 'equal calls')
  const stepLimits = settings.limits.filter((limit) => !callLimits.includes(limit))
  const calls = new CallLimits(settings, callLimits, ledgerOf, notices)
  const steps = new StepLimits(stepLimits, ledgerOf, notices)
  const clock = new TurnClock(stepLimits, ledgerOf, steps)
  const unreported = new Unreported(stepLimits, log)

  // A listener that is removed still runs in a dispatch that was under way.
  let isGone = false
  ctx.effect(
    () => () => {
      isGone = true
      clock.stop()
    },
    'budget: timers',
  )

  ctx.on(
    'agent/pre-step',
    untraced((event, next) => {
      if (isGone) return next()
      calls.hear(event)
      clock.note(event.agent, event.signal)
      return steps.forbid(event.agent, event.step) ? Promise.resolve(REJECT) : next()
    }),
    { prepend: true },
  )
  if (callLimits.length > 0) capCalls(ctx, calls, () => isGone)
  if (stepLimits.length === 0) return

  const agentLoop = plain(ctx.agentLoop)
  const owner = agentOf(ctx)
  const agentWith = (session: Session): Agent | undefined => {
    const agent = agentLoop.get(session.id)
    return agent?.session === session && agent.status === 'running' && (owner === undefined || owner === agent) ? agent : undefined
  }
  ctx.on('session/event', (session, event) => {
    const { type } = event
    if (isGone || (type !== 'turn/start' && type !== 'step/start' && type !== 'assistant/message')) return
    const agent = agentWith(session)
    if (agent === undefined) return
    if (type === 'turn/start') clock.start(agent)
    else if (type === 'step/start') steps.check(agent)
    else unreported.hear(event.data)
  })
  ctx.on('agent/status', ({ agent, status }) => {
    if (status === 'idle') clock.disarm(agent)
  })
  for (const { session } of agentLoop.list()) {
    const agent = agentWith(session)
    if (agent !== undefined) clock.start(agent)
  }
}

/** In front of all listeners, and behind them: what one that stands further out lets pass, the guard does not. */
function capCalls(ctx: Context, calls: CallLimits, isGone: () => boolean): void {
  ctx.on(
    'tools/pre-execute',
    untraced((exec, next) => {
      const reason = isGone() ? undefined : calls.judge(exec, false)
      return reason === undefined ? next() : Promise.resolve({ kind: 'deny', reason })
    }),
    { prepend: true },
  )
  ctx.tools.guard((exec) => calls.judge(exec, true))
}
