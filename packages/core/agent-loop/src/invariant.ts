import { plain } from '@loopguard/cordis-internals'
import { companion, type Companion, onDispatch } from '@loopguard/invariants/companion'
import type { LlmRequest, SessionId } from '@loopguard/llm'
import type { Session, SessionEvent } from '@loopguard/session'
import type { ToolExecution } from '@loopguard/tools'
import { DerivedLog } from './derived-log.ts'
import { FailedAttempts } from './failed-attempts.ts'
import type { Agent, AgentStatus, RequestErrorEvent } from './types.ts'

const plugin: Companion = companion({
  name: 'agent-loop-invariant',
  packageName: '@loopguard/agent-loop',
  inject: ['agentLoop', 'sessions', 'tools'],
  install(ctx, fail) {
    // None of what is asked of them depends on who asks.
    const [agentLoop, sessions, tools] = [plain(ctx.agentLoop), plain(ctx.sessions), plain(ctx.tools)]
    const report = (id: SessionId, complaint: string): void => {
      try {
        fail(`agent "${id}": ${complaint}`)
      } catch {
        // A throw would refuse the event, and that is not for this package to do.
      }
    }

    const statuses = new WeakMap<Agent, AgentStatus>()
    for (const agent of agentLoop.list()) statuses.set(agent, agent.status)
    const failedAttempts = new FailedAttempts()
    const logs = new WeakMap<Session, DerivedLog>()
    const isRunningIn = (session: SessionId) => (id: string) =>
      tools.running().some(({ callId, agent }) => callId === id && agent?.id === session)
    const derived = (session: Session): DerivedLog => {
      let log = logs.get(session)
      if (log === undefined) logs.set(session, (log = new DerivedLog(session.events, isRunningIn(session.id))))
      log.catchUp(session.events)
      return log
    }

    onDispatch(ctx, {
      'agent/status'(args) {
        const { agent, status } = args[0] as { readonly agent: Agent; readonly status: AgentStatus }
        const last = statuses.get(agent) ?? 'idle'
        statuses.set(agent, status)
        if (last === status) report(agent.id, `its status was ${last} and became ${status}`)
      },
      'llm/stream'(args) {
        const request = args[0] as LlmRequest
        const session = sessions.get(request.sessionId)
        if (session !== undefined) derived(session).see(request)
      },
      'agent/request-error'(args) {
        const { agent, failure } = args[0] as RequestErrorEvent
        for (const complaint of [derived(agent.session).failed(), failedAttempts.complaint(agent.session, failure)])
          if (complaint !== undefined) report(agent.id, complaint)
      },
      'tools/result'(args) {
        const { agent, callId } = Object(args[0]) as Partial<ToolExecution>
        const { session } = Object(agent) as Partial<Agent>
        if (session !== undefined && callId !== undefined && logs.has(session)) derived(session).settle(callId)
      },
      'session/event'(args) {
        const session = args[0] as Session
        const complaint = derived(session).judge(args[1] as SessionEvent)
        // What others write into a log while no agent runs on it, an old conversation say, is not the loop's.
        if (complaint !== undefined && agentLoop.get(session.id)?.status === 'running') report(session.id, complaint)
      },
    })
  },
})

export const name: string = plugin.name
export const inject: string[] = plugin.inject
/**
 * Checks that status alternates, that each answer is to a request that the log derives, that each failed attempt is logged, that a
 * result follows its call, and that no call outlives the step that started it.
 */
export const apply: Companion['apply'] = plugin.apply
