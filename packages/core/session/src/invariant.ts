import { companion, type Companion, onDispatch } from '@loopguard/invariants/companion'
import type { SessionEvent } from './events.ts'

const plugin: Companion = companion({
  name: 'session-invariant',
  packageName: '@loopguard/session',
  inject: ['sessions'],
  install(ctx, fail) {
    const grammars = new WeakMap<object, LogGrammar>()
    onDispatch(ctx, {
      // A throw here refuses the event before anything is committed.
      'session/event'(args) {
        const session = args[0] as { readonly id: string; readonly events: readonly SessionEvent[] }
        const candidate = args[1] as SessionEvent
        let grammar = grammars.get(session)
        if (grammar === undefined) grammars.set(session, (grammar = new LogGrammar()))
        // What is committed is folded, never judged: a log that was broken before must not block the agent for ever.
        grammar.catchUp(session.events)
        const complaint = misnumbered(session.events, candidate) ?? grammar.judge(candidate)
        if (complaint !== undefined) fail(`session "${session.id}": ${complaint}`)
      },
    })
  },
})

export const name: string = plugin.name
export const inject: string[] = plugin.inject
/** Refuses an event that breaks the numbering, the nesting of turns and steps, or the pairing of calls and results. */
export const apply: Companion['apply'] = plugin.apply

function misnumbered(log: readonly SessionEvent[], { seq, type }: SessionEvent): string | undefined {
  const expected = (log.at(-1)?.seq ?? -1) + 1
  if (seq !== expected) return `"${type}" has seq ${seq}, expected ${expected}`
  return (type === 'session/start') === (seq === 0) ? undefined : `"${type}" cannot be event ${seq}`
}

/** One call of the open step. Models give one id to several calls now and then, so each is a count. */
interface Call {
  asked: number
  logged: number
  answered: number
}

/** How turns, steps, calls and results nest, told anew so that no writer is checked against itself. */
class LogGrammar {
  private read = 0
  private turn: number | undefined
  private step: number | undefined
  /** By id, of the open step. */
  private readonly calls = new Map<string, Call>()

  catchUp(events: readonly SessionEvent[]): void {
    for (; this.read < events.length; this.read++) this.fold(events[this.read] as SessionEvent)
  }

  judge(event: SessionEvent): string | undefined {
    switch (event.type) {
      case 'turn/start':
        return this.turn === undefined ? undefined : `turn ${event.data.turn} starts inside turn ${this.turn}`
      case 'turn/end':
        if (this.turn !== event.data.turn) return `turn ${event.data.turn} ends while ${this.where()}`
        return this.step === undefined ? undefined : `turn ${this.turn} ends inside step ${this.step}`
      case 'step/start':
        if (this.turn !== event.data.turn) return `step ${event.data.step} of turn ${event.data.turn} starts while ${this.where()}`
        return this.step === undefined ? undefined : `step ${event.data.step} starts inside step ${this.step}`
      case 'step/end': {
        if (!this.isHere(event.data)) return `step ${event.data.step} of turn ${event.data.turn} ends while ${this.where()}`
        const unanswered = [...this.calls]
          .filter(([, { asked, logged, answered }]) => answered < Math.max(asked, logged))
          .map(([id]) => `"${id}"`)
        return unanswered.length === 0 ? undefined : `step ${event.data.step} ends with unanswered calls: ${unanswered.join(', ')}`
      }
      case 'assistant/message':
        return this.isHere(event.data) ? undefined : `an assistant message of ${placeOf(event.data)} while ${this.where()}`
      case 'request/failed':
      case 'request/retry':
        return this.isHere(event.data) ? undefined : `"${event.type}" of ${placeOf(event.data)} while ${this.where()}`
      case 'tool/call':
        return this.isHere(event.data) ? undefined : `call "${event.data.callId}" of ${placeOf(event.data)} while ${this.where()}`
      case 'tool/result':
        return this.judgeResult(event)
      default:
        return undefined
    }
  }

  private judgeResult({ data }: SessionEvent<'tool/result'>): string | undefined {
    const id = data.message.source.callId
    if (!this.isHere(data)) return `a result of call "${id}" of ${placeOf(data)} while ${this.where()}`
    const { asked, logged, answered } = this.calls.get(id) ?? NO_CALL
    if (answered < logged || (answered < asked && data.error?.code === 'TOOL_NOT_STARTED')) return undefined
    return answered < asked ? `a result answers call "${id}", which was not logged` : `a result answers no open call: "${id}"`
  }

  private fold(event: SessionEvent): void {
    switch (event.type) {
      case 'turn/start':
        this.enter(event.data.turn, undefined)
        break
      case 'turn/end':
        this.enter(undefined, undefined)
        break
      case 'step/start':
        this.enter(event.data.turn, event.data.step)
        break
      case 'step/end':
        this.enter(event.data.turn, undefined)
        break
      case 'assistant/message':
        for (const block of event.data.message.content) if (block.type === 'tool-call') this.call(block.id).asked++
        break
      case 'tool/call':
        this.call(event.data.callId).logged++
        break
      case 'tool/result':
        this.call(event.data.message.source.callId).answered++
        break
      default:
    }
  }

  /** Everything that was open is closed now, in a log that was broken before too. */
  private enter(turn: number | undefined, step: number | undefined): void {
    this.turn = turn
    this.step = step
    this.calls.clear()
  }

  private call(id: string): Call {
    let call = this.calls.get(id)
    if (call === undefined) this.calls.set(id, (call = { ...NO_CALL }))
    return call
  }

  private isHere(place: { readonly turn: number; readonly step: number }): boolean {
    return this.turn === place.turn && this.step === place.step
  }

  private where(): string {
    if (this.turn === undefined) return 'no turn is open'
    return this.step === undefined ? `turn ${this.turn} is between steps` : `step ${this.step} of turn ${this.turn} is open`
  }
}

const NO_CALL: Readonly<Call> = { asked: 0, logged: 0, answered: 0 }

function placeOf({ turn, step }: { readonly turn: number; readonly step: number }): string {
  return `step ${step} of turn ${turn}`
}
