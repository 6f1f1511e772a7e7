import type { Agent } from '@loopguard/agent-loop'
import { codeOf } from '@loopguard/kit'
import type { MessageId, UserMessage } from '@loopguard/llm'
import type { SessionEvent, TurnEndReason } from '@loopguard/session'

/** What became of a prompt. */
export type PromptEnd = { readonly kind: 'ended'; readonly reason: TurnEndReason } | { readonly kind: 'discarded' }

interface Waiting {
  readonly message: UserMessage
  readonly resolve: (end: PromptEnd) => void
  readonly reject: (error: unknown) => void
  /** The turn that runs has claimed it. */
  isClaimed: boolean
}

/** Says nothing of how the turn ended. */
const AFTERTHOUGHTS = ['GAVE_UP', 'LATE_ANSWER']

/** The prompts of one agent that wait for their end: each is answered by the turn that its message got. */
export class Prompts {
  private readonly agent: Agent
  private readonly waiting = new Map<MessageId, Waiting>()
  /** Ended the activity, and no `turn/end` says so. */
  private unlogged: unknown
  private isFirstStep = false

  private readonly inTurn: (work: () => void) => void

  /** @param inTurn - calls `work` when the client has been told of all that came before. */
  constructor(agent: Agent, inTurn: (work: () => void) => void) {
    this.agent = agent
    this.inTurn = inTurn
  }

  /** Queues a message for a turn of its own. Rejects with what the agent throws, or what ended its turn without a word in the log. */
  send(message: UserMessage): Promise<PromptEnd> {
    return new Promise((resolve, reject) => {
      this.waiting.set(message.id, { message, resolve, reject, isClaimed: false })
      try {
        this.agent.followup(message)
      } catch (error) {
        this.waiting.delete(message.id)
        reject(error as Error)
      }
    })
  }

  has(id: MessageId): boolean {
    return this.waiting.has(id)
  }

  /** Told of each event of the agent's log. */
  logged({ type, data }: SessionEvent): void {
    if (type === 'turn/start') this.isFirstStep = true
    if (type === 'step/start') this.isFirstStep = data.step === 1
    if (type === 'inbox/removed') {
      for (const id of data.ids) {
        const prompt = this.waiting.get(id)
        if (prompt === undefined) continue
        if (data.cause === 'claimed') prompt.isClaimed = true
        else this.settle(prompt, { kind: 'discarded' })
      }
    }
    if (type === 'turn/end') this.turnEnded(data.reason)
  }

  /** Told of what the agent reports. */
  failed(error: unknown): void {
    if (!AFTERTHOUGHTS.includes(codeOf(error) ?? '')) this.unlogged = error
  }

  /** Told when the agent has become idle. What waits still would wait until the next message. */
  idle(): void {
    const error = this.unlogged
    this.unlogged = undefined
    if (error !== undefined) for (const prompt of this.waiting.values()) this.reject(prompt, error)
    const [next] = this.waiting.values()
    if (next === undefined) return
    try {
      // It is queued already, so this wakes the agent, and no more.
      this.agent.followup(next.message)
    } catch (refused) {
      this.reject(next, refused)
    }
  }

  /** Nothing will be answered any more. */
  close(): void {
    for (const prompt of this.waiting.values()) this.settle(prompt, { kind: 'discarded' })
  }

  private turnEnded(reason: TurnEndReason): void {
    this.unlogged = undefined
    const claimed = [...this.waiting.values()].filter(({ isClaimed }) => isClaimed)
    // A listener that blocks may keep what was claimed: it waits again, in front.
    const kept = reason.kind === 'blocked' && this.isFirstStep ? this.waiting.get(this.agent.inbox.nextTurn[0]?.id as MessageId) : undefined
    for (const prompt of claimed.length > 0 || kept === undefined ? claimed : [kept]) this.settle(prompt, { kind: 'ended', reason })
  }

  private settle({ message, resolve }: Waiting, end: PromptEnd): void {
    this.waiting.delete(message.id)
    this.inTurn(() => resolve(end))
  }

  private reject({ message, reject }: Waiting, error: unknown): void {
    this.waiting.delete(message.id)
    this.inTurn(() => reject(error))
  }
}
