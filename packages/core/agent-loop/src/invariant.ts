import { isDeepStrictEqual } from 'node:util'
import { companion, type Companion } from '@loopguard/invariants/companion'
import type { LlmRequest, Message } from '@loopguard/llm'
import type { Session, SessionEvent } from '@loopguard/session'
import type { AgentStatus } from './types.ts'

const plugin: Companion = companion({
  name: 'agent-loop-invariant',
  packageName: '@loopguard/agent-loop',
  inject: ['agentLoop', 'sessions'],
  install(ctx, fail) {
    const { agentLoop, sessions } = ctx
    const statuses = new WeakMap<object, AgentStatus>()
    for (const agent of agentLoop.list()) statuses.set(agent, agent.status)
    ctx.on('agent/status', ({ agent, status }) => {
      const last = statuses.get(agent) ?? 'idle'
      statuses.set(agent, status)
      if (last === status) fail(`agent "${agent.id}": its status was ${last} and became ${status}`)
    })

    const logs = new WeakMap<Session, DerivedLog>()
    const derived = (session: Session): DerivedLog => {
      let log = logs.get(session)
      if (log === undefined) logs.set(session, (log = new DerivedLog()))
      log.catchUp(session.events)
      return log
    }
    ctx.on(
      'llm/stream',
      (request, next) => {
        // A session that no agent of the loop is running belongs to somebody who asks on their own account.
        const session = agentLoop.get(request.sessionId)?.status === 'running' ? sessions.get(request.sessionId) : undefined
        const complaint = session === undefined ? undefined : derived(session).compare(request)
        if (complaint !== undefined) fail(`agent "${request.sessionId}": ${complaint}`)
        return next()
      },
      { prepend: true },
    )
    ctx.on('session/event', (session, event) => {
      if (derived(session).isMisplaced(event)) {
        fail(`agent "${session.id}": the user message of event ${event.seq} stands between a call and its result`)
      }
    })
  },
})

export const name: string = plugin.name
export const inject: string[] = plugin.inject
/** Checks that status alternates, that each request is what the log derives, and that nothing stands between a call and its result. */
export const apply: Companion['apply'] = plugin.apply

/** What a log says, derived anew so that the session is not checked against itself. */
class DerivedLog {
  private readonly messages: Message[] = []
  private header: SessionEvent<'request/header'>['data'] | undefined
  private read = 0
  private readonly calls = new Set<string>()
  private readonly misplaced = new Set<number>()

  catchUp(events: readonly SessionEvent[]): void {
    for (; this.read < events.length; this.read++) this.fold(events[this.read] as SessionEvent)
  }

  /** Whether this event is a user message that was logged while a call of its step had no result. */
  isMisplaced({ seq }: SessionEvent): boolean {
    return this.misplaced.has(seq)
  }

  compare({ provider, model, system, tools, maxTokens, messages }: LlmRequest): string | undefined {
    const asked = { provider, model, system, tools, maxTokens }
    if (this.header === undefined) return 'a request was sent before any request/header was logged'
    for (const [key, value] of Object.entries(asked)) {
      const logged = (this.header as Record<string, unknown>)[key]
      if (value !== logged && !isDeepStrictEqual(value, logged)) return `the \`${key}\` of a request is not what request/header says`
    }
    if (messages.length !== this.messages.length)
      return `a request has ${messages.length} messages, the log derives ${this.messages.length}`
    const index = messages.findIndex((message, at) => message !== this.messages[at] && !isDeepStrictEqual(message, this.messages[at]))
    return index < 0 ? undefined : `message ${index} of a request ("${messages[index]?.id}") is not what the log derives`
  }

  private fold(event: SessionEvent): void {
    switch (event.type) {
      case 'request/header':
        this.header = event.data
        break
      case 'user/message':
        this.messages.push(event.data)
        if (this.calls.size > 0) this.misplaced.add(event.seq)
        break
      case 'assistant/message':
        if (event.data.message.content.length > 0) this.messages.push(event.data.message)
        for (const block of event.data.message.content) if (block.type === 'tool-call') this.calls.add(block.id)
        break
      case 'tool/result':
        this.messages.push(event.data.message)
        this.calls.delete(event.data.message.source.callId)
        break
      default:
    }
  }
}
