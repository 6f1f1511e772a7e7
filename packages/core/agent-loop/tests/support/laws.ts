import type { Message, MessageId } from '@loopguard/llm'
import type { SessionEvent } from '@loopguard/session'

/**
 * What every log of the loop obeys, told anew so that no writer is checked against itself. Returns the first fault, in words, or
 * `undefined`. `whole`: every turn has ended.
 */
export function faultOfLog(events: readonly SessionEvent[], { whole = true }: { whole?: boolean } = {}): string | undefined {
  const log = new Log()
  for (const [index, event] of events.entries()) {
    const fault = event.seq === index ? log.read(event) : `its seq is not ${index}`
    if (fault !== undefined) return `event ${event.seq} (${event.type} ${JSON.stringify(event.data)}): ${fault}`
  }
  return whole ? log.openEnd() : undefined
}

/** The messages that a request holds after these events, derived without the session. */
export function derived(events: readonly SessionEvent[]): Message[] {
  return events.flatMap((event): readonly Message[] => {
    if (event.type === 'user/message') return [event.data]
    if (event.type === 'tool/result') return [event.data.message]
    if (event.type !== 'assistant/message' || event.data.message.content.length === 0) return []
    return [event.data.message]
  })
}

class Log {
  private turn: number | undefined
  private lastTurn = 0
  private step: number | undefined
  private lastStep = 0
  /** Calls of the step in the order of the model, and how far each got. */
  private calls: { readonly id: string; state: 'asked' | 'called' | 'answered' }[] = []
  private answered = 0
  private asked = false
  private readonly queued = new Set<MessageId>()

  read(event: SessionEvent): string | undefined {
    switch (event.type) {
      case 'session/start':
        return event.seq === 0 ? undefined : 'it comes twice'
      case 'turn/start':
        if (this.turn !== undefined) return `turn ${this.turn} is open`
        if (event.data.turn !== this.lastTurn + 1) return `the last turn was ${this.lastTurn}`
        this.turn = this.lastTurn = event.data.turn
        this.lastStep = 0
        return undefined
      case 'step/start':
        if (event.data.turn !== this.turn || this.step !== undefined) return `turn ${this.turn} and step ${this.step} are open`
        if (event.data.step !== this.lastStep + 1) return `the last step was ${this.lastStep}`
        this.step = this.lastStep = event.data.step
        this.calls = []
        this.answered = 0
        this.asked = false
        return undefined
      case 'user/message':
        if (this.step === undefined) return 'no step is open'
        return this.answered < this.calls.length ? 'a call has no answer yet' : undefined
      case 'request/header':
        return this.step === undefined || this.asked ? 'no request can follow here' : undefined
      case 'assistant/message':
        if (!this.isHere(event.data)) return 'its step is not open'
        if (this.asked) return 'the step has a message of the model already'
        this.asked = true
        this.calls = event.data.message.content.flatMap((block) =>
          block.type === 'tool-call' ? [{ id: block.id, state: 'asked' as const }] : [],
        )
        return event.data.interrupted === true && this.calls.length > 0 ? 'an interrupted message has calls' : undefined
      case 'tool/call': {
        if (!this.isHere(event.data)) return 'its step is not open'
        const next = this.calls.find(({ state }) => state === 'asked')
        if (next?.id !== event.data.callId) return `the next call of the model is ${next?.id}`
        next.state = 'called'
        return undefined
      }
      case 'tool/result': {
        if (!this.isHere(event.data)) return 'its step is not open'
        const next = this.calls[this.answered]
        const { error, message } = event.data
        if (next?.id !== message.source.callId) return `the next answer is that of ${next?.id}`
        if (next.state !== 'called' && error?.code !== 'TOOL_NOT_STARTED') return 'its call was not logged'
        next.state = 'answered'
        this.answered++
        return undefined
      }
      case 'step/end':
        if (!this.isHere(event.data)) return 'its step is not open'
        this.step = undefined
        return this.answered < this.calls.length ? 'a call has no answer' : undefined
      case 'turn/end':
        if (event.data.turn !== this.turn || this.step !== undefined) return `turn ${this.turn} and step ${this.step} are open`
        this.turn = undefined
        return undefined
      case 'inbox/queued':
        if (this.queued.has(event.data.message.id)) return 'it is queued already'
        this.queued.add(event.data.message.id)
        return undefined
      case 'inbox/removed': {
        const { ids, cause } = event.data
        if (ids.length === 0) return 'it removes nothing'
        if (cause === 'claimed' && this.turn === undefined) return 'no turn is open'
        for (const id of ids) if (!this.queued.delete(id)) return `${id} is not queued`
        return undefined
      }
      default:
        return undefined
    }
  }

  openEnd(): string | undefined {
    return this.turn === undefined ? undefined : `turn ${this.turn} has not ended`
  }

  private isHere({ turn, step }: { readonly turn: number; readonly step: number }): boolean {
    return this.turn === turn && this.step === step
  }
}
