import { isDeepStrictEqual } from 'node:util'
import { companion, type Companion } from '@loopguard/invariants/companion'
import type { LlmRequest, Message, SessionId } from '@loopguard/llm'
import type { Session, SessionEvent } from '@loopguard/session'
import type { Agent, AgentStatus, RequestErrorEvent } from './types.ts'

const plugin: Companion = companion({
  name: 'agent-loop-invariant',
  packageName: '@loopguard/agent-loop',
  inject: ['agentLoop', 'sessions'],
  install(ctx, fail) {
    const { agentLoop, sessions } = ctx
    const report = (id: SessionId, complaint: string): void => {
      try {
        fail(`agent "${id}": ${complaint}`)
      } catch {
        // A throw would refuse the event, and that is not for this package to do.
      }
    }

    const statuses = new WeakMap<Agent, AgentStatus>()
    for (const agent of agentLoop.list()) statuses.set(agent, agent.status)
    const follow = ({ agent, status }: { readonly agent: Agent; readonly status: AgentStatus }): void => {
      const last = statuses.get(agent) ?? 'idle'
      statuses.set(agent, status)
      if (last === status) report(agent.id, `its status was ${last} and became ${status}`)
    }

    const logs = new WeakMap<Session, DerivedLog>()
    const derived = (session: Session): DerivedLog => {
      let log = logs.get(session)
      if (log === undefined) logs.set(session, (log = new DerivedLog()))
      log.catchUp(session.events)
      return log
    }

    ctx.on('internal/dispatch', (_mode, event, args: readonly unknown[]) => {
      switch (event) {
        case 'agent/status':
          return follow(args[0] as Parameters<typeof follow>[0])
        case 'llm/stream': {
          const request = args[0] as LlmRequest
          const session = sessions.get(request.sessionId)
          if (session !== undefined) derived(session).see(request)
          return
        }
        case 'agent/request-error': {
          const { agent } = args[0] as RequestErrorEvent
          const complaint = derived(agent.session).ended(false)
          return complaint === undefined ? undefined : report(agent.id, complaint)
        }
        case 'session/event': {
          const [session, candidate] = args as [Session, SessionEvent]
          const complaint = derived(session).judge(candidate)
          // What others write into a log while no agent runs on it, an old conversation say, is not the loop's.
          if (complaint !== undefined && agentLoop.get(session.id)?.status === 'running') report(session.id, complaint)
          return
        }
        default:
      }
    })
  },
})

export const name: string = plugin.name
export const inject: string[] = plugin.inject
/** Checks that status alternates, that each answer is to a request that the log derives, and that a result follows its call. */
export const apply: Companion['apply'] = plugin.apply

/** What a log says, derived anew so that the session is not checked against itself. */
class DerivedLog {
  private readonly messages: Message[] = []
  private header: SessionEvent<'request/header'>['data'] | undefined
  private read = 0
  private readonly calls = new Set<string>()
  /** What is wrong with the requests of the open step. Nothing is said of a step whose start was not seen. */
  private requests: 'unknown' | 'none' | 'right' | { readonly wrong: string } = 'unknown'

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

  /** The loop's request has ended, with an answer or with a failure: whoever fails a request may do so before it is seen here. */
  ended(answered: boolean): string | undefined {
    const { requests } = this
    if (requests === 'unknown') return undefined
    // The next attempt within the step is another request.
    this.requests = 'none'
    if (requests === 'none') return answered ? 'an answer was logged to no request' : undefined
    return requests === 'right' ? undefined : requests.wrong
  }

  /** What is wrong with an event that is about to be committed. */
  judge(event: SessionEvent): string | undefined {
    switch (event.type) {
      case 'step/start':
        this.requests = 'none'
        return undefined
      case 'step/end':
        this.requests = 'unknown'
        return undefined
      case 'assistant/message':
        return this.ended(true)
      case 'user/message':
        return this.calls.size === 0 ? undefined : `the user message of event ${event.seq} stands between a call and its result`
      default:
        return undefined
    }
  }

  private compare({ provider, model, system, tools, maxTokens, messages }: LlmRequest): string | undefined {
    const { header } = this
    if (header === undefined) return 'a request was sent before any request/header was logged'
    const asked = { provider, model, system, tools, maxTokens }
    for (const key of ['provider', 'model', 'system', 'tools', 'maxTokens'] as const) {
      if (asked[key] !== header[key] && !isDeepStrictEqual(asked[key], header[key]))
        return `the \`${key}\` of a request is not what request/header says`
    }
    if (messages.length !== this.messages.length)
      return `a request has ${messages.length} messages, the log derives ${this.messages.length}`
    // A plain loop: this is as much as the loop's own copy of a long history costs.
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
        break
      case 'tool/result':
        this.messages.push(event.data.message)
        this.calls.delete(event.data.message.source.callId)
        break
      case 'step/start':
      case 'step/end':
      case 'turn/end':
        // A step that was broken off is not held against those that follow it.
        this.calls.clear()
        break
      default:
    }
  }
}
