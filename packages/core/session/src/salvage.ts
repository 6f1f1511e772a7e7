import { createToolResultMessage, CallId, type SessionId, text, type ToolCallBlock } from '@loopguard/llm'
import { SESSION_VERSION, type SessionEvent, type SessionEventMap, type SessionEventType } from './events.ts'
import { TOOL_NOT_STARTED, TOOL_OUTCOME_UNKNOWN } from './recovery-codes.ts'
import { salvageLines } from './salvage-lines.ts'

/** What became of one line, or what was put in beside it. `line` is that of the damaged log, from 1. */
export interface SalvageNote {
  readonly line: number
  readonly what: string
}

export interface Salvage {
  /** A log that loads: numbered anew, under the new id, turns and steps nested, each call answered once. */
  readonly events: readonly SessionEvent[]
  readonly notes: readonly SalvageNote[]
}

/**
 * Makes a log that loads out of what can still be read of a damaged one. Lines that hold no event are dropped, and so is a result
 * whose call is lost; a call whose result is lost gets one that says so; turns and steps that lost their start or their end get one.
 * An event of an unknown type is kept.
 */
export function salvage(bytes: Uint8Array, id: SessionId): Salvage {
  const log = new SalvagedLog(id)
  for (const entry of salvageLines(bytes)) {
    if ('why' in entry) {
      log.note(entry.line, `dropped: ${entry.why}`)
      continue
    }
    if (entry.cleaned !== undefined) log.note(entry.line, `dropped: ${entry.cleaned}`)
    log.take(entry.line, entry.event)
  }
  return log
}

interface Place {
  readonly turn: number
  readonly step: number
}

class SalvagedLog implements Salvage {
  readonly events: SessionEvent[] = []
  readonly notes: SalvageNote[] = []
  private readonly id: SessionId
  private line = 0
  private time = 0
  private lastSeq = -1
  private turn: number | undefined
  private step: number | undefined
  /** Calls of the open step without a result, by id, and whether their start stands in the log. */
  private readonly open = new Map<string, { readonly block: ToolCallBlock; isLogged: boolean }>()

  constructor(id: SessionId) {
    this.id = id
  }

  note(line: number, what: string): void {
    this.notes.push({ line, what })
  }

  take(line: number, event: SessionEvent): void {
    this.line = line
    if (event.seq <= this.lastSeq) return this.drop(`event ${event.seq} once more`)
    if (event.seq > this.lastSeq + 1) this.note(line, `missing: ${describeGap(this.lastSeq + 1, event.seq - 1)}`)
    this.lastSeq = event.seq
    this.time = event.time
    if (this.events.length === 0) this.begin(event)
    if (event.type === 'session/start') {
      if (this.events.length > 1) this.drop('a second session/start')
      return
    }
    this.place(event)
  }

  private begin(event: SessionEvent): void {
    const parent = event.type === 'session/start' ? event.data.parent : undefined
    if (event.type !== 'session/start') this.note(this.line, 'added: session/start')
    this.append('session/start', { version: SESSION_VERSION, id: this.id, ...(parent !== undefined && { parent }) })
  }

  private place(event: SessionEvent): void {
    switch (event.type) {
      case 'turn/start':
        this.closeTurn()
        this.turn = event.data.turn
        break
      case 'turn/end':
        if (this.turn !== event.data.turn) return this.drop(`the end of turn ${event.data.turn}, which is not open`)
        this.closeStep()
        this.turn = undefined
        break
      case 'step/start':
        this.enterTurn(event.data.turn)
        this.step = event.data.step
        break
      case 'step/end':
        if (!this.isHere(event.data)) return this.drop(`the end of step ${event.data.step}, which is not open`)
        this.answerOpen()
        this.step = undefined
        break
      case 'assistant/message':
        this.enterStep(event.data)
        for (const block of event.data.message.content) if (isCall(block)) this.open.set(block.id, { block, isLogged: false })
        break
      case 'tool/call': {
        const call = this.isHere(event.data) ? this.open.get(event.data.callId) : undefined
        if (call === undefined) return this.drop(`call "${event.data.callId}", whose message is lost`)
        call.isLogged = true
        break
      }
      case 'tool/result': {
        const { callId } = event.data.message.source
        if (!this.isHere(event.data) || !this.open.has(callId)) return this.drop(`a result without its call "${callId}"`)
        if (event.data.error?.code !== TOOL_NOT_STARTED) this.putBack(callId)
        this.open.delete(callId)
        break
      }
      default:
        if (isPlaced(event.data)) this.enterStep(event.data)
    }
    this.append(event.type, event.data)
  }

  private enterTurn(turn: number): void {
    if (this.turn === turn) return this.closeStep()
    this.closeTurn()
    this.add('turn/start', { turn })
    this.turn = turn
  }

  private enterStep({ turn, step }: Place): void {
    if (this.isHere({ turn, step })) return
    this.enterTurn(turn)
    this.add('step/start', { turn, step })
    this.step = step
  }

  private closeTurn(): void {
    if (this.turn === undefined) return
    this.closeStep()
    this.add('turn/end', { turn: this.turn, reason: { kind: 'interrupted' } })
    this.turn = undefined
  }

  private closeStep(): void {
    if (this.turn === undefined || this.step === undefined) return
    this.answerOpen()
    this.add('step/end', { turn: this.turn, step: this.step })
    this.step = undefined
  }

  private answerOpen(): void {
    if (this.turn === undefined || this.step === undefined) return
    for (const callId of this.open.keys()) {
      this.putBack(callId)
      const content = [text('Error: the result of this tool call was lost from the log: whether it took effect is not known')]
      const message = createToolResultMessage({ callId: CallId(callId), content, isError: true })
      const error = { name: 'ToolInterruptedError', code: TOOL_OUTCOME_UNKNOWN }
      this.add('tool/result', { turn: this.turn, step: this.step, message, error }, `a result for call "${callId}"`)
    }
    this.open.clear()
  }

  /** The start of a call may be among the lines that are lost: then it may have taken effect, and that is what the log must say. */
  private putBack(callId: string): void {
    const call = this.open.get(callId)
    if (call === undefined || call.isLogged || this.turn === undefined || this.step === undefined) return
    const { name, arguments: given } = call.block
    this.add('tool/call', { turn: this.turn, step: this.step, callId, name, arguments: given }, `the start of call "${callId}"`)
  }

  private isHere({ turn, step }: Place): boolean {
    return this.turn === turn && this.step === step
  }

  private add<T extends SessionEventType>(type: T, data: SessionEventMap[T], what: string = type): void {
    this.note(this.line, `added: ${what}`)
    this.append(type, data)
  }

  private drop(what: string): void {
    this.note(this.line, `dropped: ${what}`)
  }

  private append(type: SessionEventType, data: unknown): void {
    this.events.push({ seq: this.events.length, time: this.time, type, data } as SessionEvent)
  }
}

function describeGap(first: number, last: number): string {
  return first === last ? `event ${first}` : `events ${first} to ${last}`
}

function isCall(block: { readonly type: string }): block is ToolCallBlock {
  return block.type === 'tool-call'
}

/** Events of other packages may belong to a step, too. */
function isPlaced(data: unknown): data is Place {
  const { turn, step } = Object(data) as Partial<Place>
  return Number.isSafeInteger(turn) && Number.isSafeInteger(step) && (turn as number) >= 1 && (step as number) >= 1
}
