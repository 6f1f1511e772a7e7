import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@loopguard/agent-loop'
import { isUnloading } from '@loopguard/cordis-internals'
import { codeOf, messageOf } from '@loopguard/kit'
import type { Session } from '@loopguard/session'
import { Config } from './config.ts'
import { Driver, type DriverHost } from './driver.ts'
import { createGoal, getGoal, updateGoal } from './goal-tools.ts'

export type * from './types.ts'
export { Config } from './config.ts'
export { goalOf } from './goal-log.ts'

/** The plugin's name in a composition. */
export const name = 'goal'

export const inject: string[] = ['agentLoop', 'tools']

/** Registers `create_goal`, `get_goal` and `update_goal`, and gives every agent the driver that starts its rounds. */
export function apply(ctx: Context, config?: Partial<Config>): void {
  const { maxRounds = 256 } = config ?? {}
  for (const tool of [createGoal(maxRounds), getGoal, updateGoal(maxRounds)]) ctx.tools.register(tool)
  openDrivers(ctx, maxRounds)
}

function openDrivers(ctx: Context, maxRounds: number): void {
  const log = ctx.logger(name)
  const host: DriverHost = {
    maxRounds,
    isGoing: () => isUnloading(ctx),
    report(agent, error) {
      // One that goes gets no more rounds.
      if (codeOf(error) === 'AGENT_DISPOSED' || codeOf(error) === 'SESSION_CLOSED') return
      log.error('the goal of agent %s: %s', agent.id, messageOf(error))
    },
  }
  const drivers = new Map<Session, Driver>()
  const open = (agent: Agent, why: 'resumed' | 'reloaded'): void => {
    const driver = new Driver(agent, host)
    drivers.set(agent.session, driver)
    driver.rest(why)
  }

  for (const agent of ctx.agentLoop.list()) open(agent, 'reloaded')
  ctx.on('agent/created', ({ agent }) => open(agent, 'resumed'))
  ctx.on('agent/disposed', ({ agent }) => void drivers.delete(agent.session))
  ctx.on('session/event', (session, event) => drivers.get(session)?.logged(event))
  ctx.on('agent/status', ({ agent, status }) => {
    if (status === 'idle') drivers.get(agent.session)?.consider()
  })
  ctx.on('agent/pre-step', async ({ agent }, next) => {
    const decision = await next()
    return drivers.get(agent.session)?.admit(decision) ?? decision
  })
}
