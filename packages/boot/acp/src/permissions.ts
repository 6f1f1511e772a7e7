import {
  type AgentContext,
  methods,
  type PermissionOption,
  type RequestPermissionOutcome,
  type ToolCallUpdate,
} from '@agentclientprotocol/sdk'
import type { Agent, AgentLoop } from '@loopguard/agent-loop'
import { messageOf } from '@loopguard/kit'
import type { Session, SessionEvent } from '@loopguard/session'
import type { ApprovalRequest, ApprovalService } from '@loopguard/tools'
import { inputOf, kindOf, titleOf } from './call-title.ts'
import type { OpenSession, Update } from './open-session.ts'
import type { Outbox } from './outbox.ts'
import { parentOf } from './stored.ts'

export interface PermissionParts {
  readonly agentLoop: AgentLoop
  readonly outbox: Outbox<Update>
  readonly open: ReadonlyMap<string, OpenSession>
  readonly client: () => AgentContext
  readonly log: (words: string) => void
}

const OPTIONS: PermissionOption[] = [
  { optionId: 'allow', name: 'Allow once', kind: 'allow_once' },
  { optionId: 'reject', name: 'Reject', kind: 'reject_once' },
]

const ANSWERS = new Map([
  ['allow', 'allowed-once'],
  ['reject', 'rejected'],
] as const)

/** The service `approval`: asks the client. What a child agent asks goes to the session at the root of its ancestry. */
export class Permissions implements ApprovalService {
  private readonly parts: PermissionParts
  /** Calls of children that the client was asked about, by child and call. */
  private readonly asked = new Map<string, { readonly root: OpenSession; readonly toolCallId: string }>()

  constructor(parts: PermissionParts) {
    this.parts = parts
  }

  async request(request: ApprovalRequest): ReturnType<ApprovalService['request']> {
    const agent = this.parts.agentLoop.get(request.agent.id)
    const root = agent === undefined ? undefined : this.rootOf(agent)
    if (agent === undefined || root === undefined) return 'unavailable'
    const toolCall = toolCallOf(request, agent, root.agent)
    if (root.agent !== agent) this.asked.set(keyOf(agent.id, request.callId), { root, toolCallId: toolCall.toolCallId })
    const outcome = await this.ask(root.agent.id, toolCall, request.signal)
    if (outcome === undefined) return 'unavailable'
    if (outcome.outcome === 'cancelled') return 'cancelled'
    const answer = outcome.outcome === 'selected' ? ANSWERS.get(outcome.optionId as 'allow') : undefined
    if (answer === undefined) this.parts.log(`the client answered with ${JSON.stringify(outcome)}, which was not offered`)
    return answer ?? 'unavailable'
  }

  /** Told of every event of every log: the client sees how a call of a child ended that it was asked about. */
  logged({ id }: Session, { type, data }: SessionEvent): void {
    if (type !== 'tool/result' || this.asked.size === 0) return
    const [{ toolCallId, isError }] = data.message.content
    const key = keyOf(id, toolCallId)
    const asked = this.asked.get(key)
    this.asked.delete(key)
    asked?.root.tell({
      sessionUpdate: 'tool_call_update',
      toolCallId: asked.toolCallId,
      status: isError === true ? 'failed' : 'completed',
    })
  }

  /** Undefined when there is nobody to ask, or the client could not answer. */
  private ask(sessionId: string, toolCall: ToolCallUpdate, signal: AbortSignal): Promise<RequestPermissionOutcome | undefined> {
    const { outbox, log } = this.parts
    return new Promise((resolve) => {
      const unanswered = (): void => resolve(undefined)
      const send = (): [] => {
        if (signal.aborted) unanswered()
        else {
          const options = { cancellationSignal: signal, stopWaitingOnCancel: true }
          this.parts
            .client()
            .request(methods.client.session.requestPermission, { sessionId, toolCall, options: OPTIONS }, options)
            .then(
              ({ outcome }) => resolve(outcome),
              (error: unknown) => {
                if (!signal.aborted) log(`the client was asked about ${JSON.stringify(toolCall.title)} and failed: ${messageOf(error)}`)
                unanswered()
              },
            )
        }
        return []
      }
      // Behind what announces the call.
      outbox.push(send, unanswered)
    })
  }

  private rootOf(agent: Agent): OpenSession | undefined {
    const { agentLoop, open } = this.parts
    const parent = parentOf(agent.session.events)
    const above = parent === undefined ? undefined : agentLoop.get(parent)
    if (parent !== undefined) return above === undefined ? undefined : this.rootOf(above)
    const session = open.get(agent.id)
    return session?.agent === agent ? session : undefined
  }
}

const keyOf = (agent: string, call: string): string => `${agent}\n${call}`

/** Ids of calls are unique within a session, so those of a child are told apart. */
function toolCallOf({ toolName, callId, reason }: ApprovalRequest, agent: Agent, root: Agent): ToolCallUpdate {
  const isChild = agent !== root
  const args = argumentsOf(agent.session.events, callId)
  const title = titleOf(toolName, args)
  return {
    toolCallId: isChild ? `${agent.id}/${callId}` : callId,
    title: isChild ? `${agent.id}: ${title}` : title,
    name: toolName,
    kind: kindOf(toolName),
    status: 'pending',
    rawInput: inputOf(args),
    ...(reason !== undefined && { content: [{ type: 'content', content: { type: 'text', text: reason } }] }),
    ...(isChild && { _meta: { loopguard: { agent: agent.id, callId } } }),
  }
}

/** What the model calls with is in the log already; that the call starts is not. */
function argumentsOf(events: readonly SessionEvent[], callId: string): string {
  const answer = events.findLast(({ type }) => type === 'assistant/message') as SessionEvent<'assistant/message'> | undefined
  const block = answer?.data.message.content.find((each) => each.type === 'tool-call' && each.id === callId)
  return block?.type === 'tool-call' ? block.arguments : ''
}
