import type { MessageId, UserMessage } from '@loopguard/llm'
import { type InboxTarget, pendingInbox, type Session, type SessionEventMap } from '@loopguard/session'
import { quietly } from './close-after.ts'
import { userMessageOf } from './message.ts'
import type { InboxView } from './types.ts'

/**
 * The two queues of an agent, in memory and in the log. A message leaves once: claimed by a step, or discarded. A claim is logged
 * only after what it let in stands in the log, so that a process killed in between still finds the message pending. A removal that
 * the log refuses is owed to it: nothing is queued before it is logged, or a resume would deliver what has left already.
 */
export class Inbox implements InboxView {
  readonly nextStep: UserMessage[]
  readonly nextTurn: UserMessage[]
  private claimed: { readonly message: UserMessage; readonly target: InboxTarget }[] = []
  /** The step that claimed has entered: a cancel no longer reaches the claim. */
  private entered = false
  private readonly queued: Set<MessageId>
  private readonly owed: SessionEventMap['inbox/removed'][] = []
  private readonly session: Session

  constructor(session: Session) {
    this.session = session
    const { nextStep, nextTurn } = pendingInbox(session)
    this.nextStep = [...nextStep]
    this.nextTurn = [...nextTurn]
    this.queued = new Set([...nextStep, ...nextTurn].map((message) => message.id))
  }

  get hasPending(): boolean {
    return this.nextStep.length > 0 || this.nextTurn.length > 0
  }

  /** Queues a message unless it waits already. @throws `BAD_MESSAGE`, or what the append throws; then nothing is queued. */
  queue(target: InboxTarget, input: UserMessage): void {
    const message = userMessageOf(input)
    if (this.queued.has(message.id)) return
    this.settle()
    const queue = target === 'next-step' ? this.nextStep : this.nextTurn
    // In memory first: a listener of the append may queue more, and the order of the log is the order of the queue.
    queue.push(message)
    this.queued.add(message.id)
    try {
      this.session.append('inbox/queued', { target, message })
    } catch (error) {
      const index = queue.indexOf(message)
      if (index >= 0) queue.splice(index, 1)
      this.queued.delete(message.id)
      throw error
    }
  }

  /** Takes what the next step is to see: everything queued for a step, then, at the start of a turn, one message queued for a turn. */
  claim(startsTurn: boolean): readonly UserMessage[] {
    const steps = this.nextStep.splice(0).map((message) => ({ message, target: 'next-step' as const }))
    const turns = startsTurn ? this.nextTurn.splice(0, 1).map((message) => ({ message, target: 'next-turn' as const })) : []
    this.claimed = [...steps, ...turns]
    return this.claimed.map(({ message }) => message)
  }

  /** The step enters: from now on its claim is not discarded. */
  enterClaim(): void {
    this.entered = true
  }

  /** The claimed messages are gone for good. */
  commitClaim(): void {
    this.remove(this.takeClaim(), 'claimed')
  }

  /** The claimed messages wait again, in front. */
  returnClaim(): void {
    const back = this.takeClaim()
    this.nextStep.unshift(...back.filter(({ target }) => target === 'next-step').map(({ message }) => message))
    this.nextTurn.unshift(...back.filter(({ target }) => target === 'next-turn').map(({ message }) => message))
  }

  /** Drops everything that waits, and what was claimed by a step that has not entered. */
  discard(): void {
    const claimed = this.entered ? [] : this.takeClaim()
    const waiting = [...this.nextStep.splice(0), ...this.nextTurn.splice(0)].map((message) => ({ message }))
    this.remove([...claimed, ...waiting], 'discarded')
  }

  /** Logs the removals that are owed. @throws what the append throws; the rest is owed on. */
  settle(): void {
    for (let removal = this.owed.shift(); removal !== undefined; removal = this.owed.shift()) {
      try {
        this.session.append('inbox/removed', removal)
      } catch (refused) {
        this.owed.unshift(removal)
        throw refused
      }
    }
  }

  private takeClaim(): typeof this.claimed {
    const { claimed } = this
    this.claimed = []
    this.entered = false
    return claimed
  }

  private remove(entries: readonly { readonly message: UserMessage }[], cause: 'claimed' | 'discarded'): void {
    if (entries.length === 0) return
    const ids = entries.map(({ message }) => message.id)
    for (const id of ids) this.queued.delete(id)
    this.owed.push({ ids, cause })
    try {
      this.settle()
    } catch (refused) {
      // The log takes nothing while it judges another event; that is over in a moment.
      queueMicrotask(() => quietly(() => this.settle()))
      throw refused
    }
  }
}
