import { isDeepStrictEqual } from 'node:util'
import { plain } from '@loopguard/cordis-internals'
import { companion, type Companion, onDispatch } from '@loopguard/invariants/companion'
import type { LlmRequest, Message, SessionId } from '@loopguard/llm'
import type { Session, SessionEvent } from '@loopguard/session'
import type { ToolExecution } from '@loopguard/tools'
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
    const derived = (session: Session): DerivedLog => {
      let log = logs.get(session)
      if (log === undefined) logs.set(session, (log = new DerivedLog(session.events)))
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
        const [session, candidate] = args as [Session, SessionEvent]
        const isRunning = (id: string): boolean => tools.running().some(({ callId, agent }) => callId === id && agent?.id === session.id)
        const complaint = derived(session).judge(candidate, isRunning)
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

/** Up to so many messages each request is compared whole; then one each time that the log has grown by an eighth. */
const SHORT = 500

/** What a log says, derived anew so that the session is not checked against itself. */
class DerivedLog {
  private readonly messages: Message[] = []
  /** How many messages there were at the last comparison. */
  private compared = 0
  private header: SessionEvent<'request/header'>['data'] | undefined
  private read = 0
  private readonly calls = new Set<string>()
  /** By id, how many calls the open step has started more than have ended. Those of plugins under the same id only make it fewer. */
  private readonly unsettled = new Map<string, number>()
  /** What is wrong with the latest request of the open step. Nothing is said of one that may have been sent before all this was seen. */
  private requests: 'unknown' | 'none' | 'right' | { readonly wrong: string } = 'unknown'

  constructor(past: readonly SessionEvent[]) {
    this.catchUp(past)
    // The request of the step that is open was not seen.
    this.requests = 'unknown'
  }

  catchUp(events: readonly SessionEvent[]): void {
    for (; this.read < events.length; this.read++) this.fold(events[this.read] as SessionEvent)
  }

  /**
   * Anybody may make requests in the name of a session, a plugin that sums it up say. So no request is wrong by itself, but in the step
   * of an answer there must have been one that is right.
   */
  see(request: LlmRequest): void {
    if (this.requests === 'unknown' || this.requests === 'right') return
    const wrong = this.compare(request)
    this.requests = wrong === undefined ? 'right' : { wrong }
  }

  /** The loop's request has failed; a listener may have failed it before it was seen here. */
  failed(): string | undefined {
    const complaint = typeof this.requests === 'object' ? this.requests.wrong : undefined
    // The next attempt within the step is another request.
    this.requests = 'none'
    return complaint
  }

  /** Some call of that id has its result. */
  settle(id: string): void {
    const count = this.unsettled.get(id) ?? 0
    if (count > 1) this.unsettled.set(id, count - 1)
    else this.unsettled.delete(id)
  }

  /** What is wrong with an event that is about to be committed. It may be refused yet. */
  judge(event: SessionEvent, isRunning: (callId: string) => boolean): string | undefined {
    switch (event.type) {
      case 'step/end': {
        const isKnown = this.requests !== 'unknown'
        // Somebody may have kept the result of a call from being heard: then it is not running any more, all the same.
        const [left] = [...this.unsettled.keys()].filter((id) => isKnown && isRunning(id))
        return left === undefined ? undefined : `call "${left}" still runs at the end of its step`
      }
      case 'assistant/message':
        if (this.requests === 'none') return 'an answer was logged to no request'
        return typeof this.requests === 'object' ? this.requests.wrong : undefined
      case 'user/message':
        return this.calls.size === 0 ? undefined : `the user message of event ${event.seq} stands between a call and its result`
      default:
        return undefined
    }
  }

  private compare(request: LlmRequest): string | undefined {
    const { header } = this
    if (header === undefined) return 'a request was sent before any request/header was logged'
    for (const key of ['provider', 'model', 'system', 'tools', 'maxTokens'] as const) {
      if (request[key] !== header[key] && !isDeepStrictEqual(request[key], header[key]))
        return `the \`${key}\` of a request is not what request/header says`
    }
    const count = this.messages.length
    // Reading the messages of a request copies them, which may cost more than all the rest of a step.
    if (count > SHORT && count < this.compared * 1.125) return undefined
    this.compared = count
    return this.compareMessages(request.messages)
  }

  private compareMessages(messages: readonly Message[]): string | undefined {
    if (messages.length !== this.messages.length)
      return `a request has ${messages.length} messages, the log derives ${this.messages.length}`
    for (let index = 0; index < messages.length; index++) {
      if (messages[index] !== this.messages[index] && !isDeepStrictEqual(messages[index], this.messages[index]))
        return `message ${index} of a request ("${messages[index]?.id}") is not what the log derives`
    }
    return undefined
  }

  private fold(event: SessionEvent): void {
    switch (event.type) {
      case 'request/header':
        this.header = event.data
        break
      case 'user/message':
        this.messages.push(event.data)
        break
      case 'assistant/message':
        if (event.data.message.content.length > 0) this.messages.push(event.data.message)
        for (const block of event.data.message.content) if (block.type === 'tool-call') this.calls.add(block.id)
        this.requests = 'none'
        break
      case 'tool/call':
        this.unsettled.set(event.data.callId, (this.unsettled.get(event.data.callId) ?? 0) + 1)
        break
      case 'tool/result':
        this.messages.push(event.data.message)
        this.calls.delete(event.data.message.source.callId)
        break
      case 'step/start':
      case 'step/end':
      case 'turn/end':
        this.requests = 'none'
        // A step that was broken off is not held against those that follow it.
        this.calls.clear()
        this.unsettled.clear()
        break
      default:
    }
  }
}
