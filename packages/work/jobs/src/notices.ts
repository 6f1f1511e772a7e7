import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@loopguard/agent-loop'
import { codeOf, messageOf } from '@loopguard/kit'
import type { Session } from '@loopguard/session'
import { Desk, type DeskHost } from './desk.ts'
import type {} from './jobs.ts'
import type { JobOwner } from './types.ts'

/** Gives each agent its desk, and the desks what they listen to. Returns how to find one. */
export function openDesks(ctx: Context, maxWakes: number): (owner: JobOwner) => Desk | undefined {
  const { jobs } = ctx
  const log = ctx.logger('jobs')
  const host: DeskHost = {
    maxWakes,
    isReadOut: (agent, id) => jobs.isReadOut(agent, id),
    report(agent, error) {
      // One that goes needs to hear of nothing.
      if (codeOf(error) === 'AGENT_DISPOSED') return
      log.error('agent %s was not told of the end of a job: %s', agent.id, messageOf(error))
    },
  }
  const desks = new WeakMap<Session, Desk>()
  const open = (agent: Agent): Desk => {
    let desk = desks.get(agent.session)
    if (desk === undefined) desks.set(agent.session, (desk = new Desk(agent, host)))
    return desk
  }
  const deskOf = (owner: JobOwner): Desk | undefined => (isAgent(owner) ? open(owner) : undefined)

  for (const agent of ctx.get('agentLoop')?.list() ?? []) open(agent)
  ctx.on('agent/created', ({ agent }) => void open(agent))
  ctx.on('agent/status', ({ agent, status }) => {
    const desk = desks.get(agent.session)
    if (status === 'idle') desk?.idle()
    else desk?.running()
  })
  ctx.on(
    'agent/pre-step',
    (event, next) => {
      desks.get(event.agent.session)?.claimed()
      return next()
    },
    { prepend: true },
  )
  ctx.on('session/event', (session, event) => desks.get(session)?.logged(event))
  ctx.on('jobs/end', ({ job, owner }) => deskOf(owner)?.ended(job))
  return deskOf
}

/** A job may have another owner than an agent of the loop: there is no inbox to tell it through. */
function isAgent(owner: JobOwner): owner is Agent {
  const { inject, followup, steer } = owner as Partial<Agent>
  return [inject, followup, steer].every((each) => typeof each === 'function')
}
