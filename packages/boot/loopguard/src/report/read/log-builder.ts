import type { Outcome } from '@loopguard/repeat'
import { brief } from '../shortened.ts'
import type { Fields } from './fields.ts'
import type { Call, ModelRequest, Reminder, Session, Turn, Usage } from './session.ts'

type Open<Shape> = { -readonly [Key in keyof Shape]: Shape[Key] }
type OpenRequest = Omit<Open<ModelRequest>, 'calls'> & { readonly calls: number[] }
/** A reminder names its call by the id of its message. */
type OpenReminder = Omit<Reminder, 'call'> & { readonly id: string | undefined }

/** Puts a session together, event by event. */
export class LogBuilder {
  /** The time of the event that is read, in milliseconds; without times its place. */
  now = 0
  private readonly isTimed: boolean
  private id: string | undefined
  private model: string | undefined
  private readonly turns: Open<Turn>[] = []
  private readonly requests: OpenRequest[] = []
  private readonly calls: (Open<Call> & { isOpen: boolean })[] = []
  private readonly reminders: OpenReminder[] = []
  /** Places of the calls without a result, by id: models give one id to several calls now and then. */
  private readonly open = new Map<string, number[]>()
  /** Which call brought a message, by its id. */
  private readonly causes = new Map<string, number>()
  private readonly place = { turn: 0, step: 0 }
  private askedAt = 0
  private hasHeard = false

  constructor(isTimed: boolean) {
    this.isTimed = isTimed
  }

  start(id: string | undefined): void {
    this.id = id && brief(id)
  }

  startTurn(turn: number | undefined): void {
    this.place.turn = turn ?? this.place.turn + 1
    this.place.step = 0
    this.turns.push({ turn: this.place.turn, start: this.now, end: this.now, reason: undefined })
  }

  endTurn(reason: string | undefined): void {
    const turn = this.turns.at(-1)
    if (turn !== undefined) Object.assign(turn, { end: this.now, reason: reason && brief(reason) })
  }

  startStep(step: number | undefined): void {
    this.place.step = step ?? this.place.step + 1
    this.askedAt = this.now
  }

  endStep(): void {
    const request = this.requests.at(-1)
    if (request?.turn === this.place.turn && request.step === this.place.step) request.stepEnd = this.now
  }

  ask(provider: string | undefined, model: string | undefined): void {
    this.model = model && brief(provider === undefined ? model : `${provider}/${model}`)
  }

  failed(code: string): void {
    this.requests.push({ ...this.span(undefined), ...this.place, model: this.model, failure: brief(code), stepEnd: this.now, calls: [] })
    this.askedAt = this.now
  }

  answered(usage: Fields, durationMs: number | undefined): void {
    const read = usageOf(usage)
    this.requests.push({
      ...this.span(durationMs),
      ...this.place,
      model: this.model,
      ...(read !== undefined && { usage: read }),
      stepEnd: this.now,
      calls: [],
    })
  }

  called(id: string, name: string, raw: string): void {
    const at = this.calls.length
    const start = this.isTimed ? this.now : this.now - 1
    const call = { ...this.place, name, arguments: raw, start, end: start + 1, outcome: undefined, afterUser: this.hasHeard, isOpen: true }
    this.calls.push(call)
    this.requests.at(-1)?.calls.push(at)
    this.open.set(id, [...(this.open.get(id) ?? []), at])
    this.hasHeard = false
  }

  returned(id: string, outcome: Outcome, code: string | undefined, durationMs: number | undefined, contextIds: readonly string[]): void {
    const [at, ...others] = this.open.get(id) ?? []
    const call = at === undefined ? undefined : this.calls[at]
    if (at === undefined || call === undefined) return
    this.open.set(id, others)
    Object.assign(call, { outcome, isOpen: false, ...(code !== undefined && { code }) })
    if (this.isTimed) call.end = durationMs === undefined ? this.now : call.start + durationMs
    for (const context of contextIds) if (!this.causes.has(context)) this.causes.set(context, at)
  }

  reminded(id: string | undefined, guard: string, text: string): void {
    this.reminders.push({ id, guard, text, at: this.now })
  }

  heard(): void {
    this.hasHeard = true
  }

  build(startedAt: number | undefined, notes: readonly string[]): Session {
    for (const call of this.calls) if (call.isOpen && this.isTimed) call.end = Math.max(call.start, this.now)
    const last = this.turns.at(-1)
    if (last !== undefined && last.reason === undefined) last.end = Math.max(last.start, this.now)
    return {
      id: this.id,
      models: [...new Set(this.requests.flatMap(({ model }) => model ?? []))],
      startedAt,
      turns: this.turns,
      requests: this.requests,
      calls: this.calls,
      reminders: this.reminders.map(({ id, ...reminder }) => ({ ...reminder, call: id === undefined ? undefined : this.causes.get(id) })),
      hasCodes: true,
      notes,
    }
  }

  /** Of a request that ends now. */
  private span(durationMs: number | undefined): { readonly start: number; readonly end: number } {
    if (!this.isTimed) return { start: this.now - 1, end: this.now }
    return { start: Math.max(0, durationMs === undefined ? this.askedAt : this.now - durationMs), end: this.now }
  }
}

function usageOf(usage: Fields): Usage | undefined {
  const [inputTokens, outputTokens] = [usage.amount('inputTokens'), usage.amount('outputTokens')]
  if (inputTokens === undefined && outputTokens === undefined) return undefined
  return {
    inputTokens: inputTokens ?? 0,
    outputTokens: outputTokens ?? 0,
    cacheReadTokens: usage.amount('cacheReadTokens') ?? 0,
    cacheWriteTokens: usage.amount('cacheWriteTokens') ?? 0,
  }
}
