import { type CallRead, OpenStep, type Results, type StepCall } from './open-step.ts'
import type { Outcome } from './outcome.ts'
import type { StepCalls } from './quiet-runs.ts'
import { isReminder } from './text.ts'

/** What the fold has to know of a message. One that has nothing of it, a system message or a text of the model, reads as `{}`. */
export interface Reading {
  /** The text of a message of the user, with which the run is over. Reminders read so too, and are known by their texts. */
  user?: string | undefined
  /** The calls that the model makes, in its order. */
  calls?: readonly CallRead[] | undefined
  /**
   * Whether the message holds results of calls; or those results, which `results: 'unchanged'` compares. Each names its
   * call by `id`, or by `call`, the index in the step; without them they are in the order of the calls.
   */
  results?: Results | undefined
}

/** A reminder, and where it stands: before that one of the kept messages. */
interface Told<M> {
  readonly text: string
  before: number
  message?: M | undefined
}

/** What counts the calls of a list, and knows its own texts again. */
export interface Teller {
  observe(agent: object, name: string, args: unknown, outcome: Outcome | undefined, step: StepCalls): string | undefined
  reset(agent: object): void
  isOwn(text: string): boolean
}

/** A list of messages, as far as it was read. */
export class Fold<M> {
  readonly read: (message: M) => Reading
  private readonly teller: Teller
  private readonly agent = {}
  private readonly seen: M[] = []
  /** Those of them that are no reminders. */
  private readonly kept: M[] = []
  private readonly told: Told<M>[] = []
  /** Those of the last step, which are told once it has a result. */
  private due: Told<M>[] = []
  private readonly step = new OpenStep()
  private isAnswered = false
  private make: ((text: string) => M) | undefined
  /** The list that was told last, without what is due; and how much of `kept` and `told` is in it. */
  private settled: M[] = []
  private settledKept = 0
  private settledTold = 0

  constructor(teller: Teller, read: (message: M) => Reading) {
    this.teller = teller
    this.read = read
  }

  get last(): M | undefined {
    return this.seen.at(-1)
  }

  isBeginningOf(messages: readonly M[]): boolean {
    const { seen } = this
    // From the end: another list differs there first.
    for (let index = seen.length - 1; index >= 0; index--) if (seen[index] !== messages[index]) return false
    return true
  }

  /** Reads the rest of a list of which this is the beginning. */
  extendTo(messages: readonly M[]): void {
    for (let index = this.seen.length; index < messages.length; index++) this.add(messages[index] as M)
  }

  /** The list with its reminders. Each is made once, as long as the same function makes them. */
  tell(make: (text: string) => M): M[] {
    if (this.isAnswered) this.countStep()
    if (make !== this.make) this.forgetMade(make)
    this.settle(make)
    const list = this.settled.slice()
    for (const each of this.due) list.push((each.message ??= make(each.text)))
    return list
  }

  private forgetMade(make: (text: string) => M): void {
    this.make = make
    this.settled = []
    this.settledKept = this.settledTold = 0
    for (const each of [...this.told, ...this.due]) each.message = undefined
  }

  /** Only what is due may still move, and that stands at the end. */
  private settle(make: (text: string) => M): void {
    const { kept, told, settled } = this
    for (; this.settledTold < told.length; this.settledTold++) {
      const each = told[this.settledTold] as Told<M>
      while (this.settledKept < each.before) settled.push(kept[this.settledKept++] as M)
      settled.push((each.message ??= make(each.text)))
    }
    while (this.settledKept < kept.length) settled.push(kept[this.settledKept++] as M)
  }

  private add(message: M): void {
    const { user, calls = [], results = false } = this.read(message)
    this.seen.push(message)
    const isTold = user !== undefined && this.teller.isOwn(user)
    const hasResults = results !== false
    if (isTold && !hasResults) return
    // A message that brings no result, or asks for another call, is behind the step.
    if (this.isAnswered && (!hasResults || calls.length > 0)) {
      this.countStep()
      for (const each of this.due) this.told.push(each)
      this.due = []
    }
    if (user !== undefined && !isReminder(user)) {
      this.teller.reset(this.agent)
      this.step.close()
      this.due = []
    }
    this.step.add(calls)
    this.step.answer(results)
    this.kept.push(message)
    this.isAnswered = hasResults
    for (const each of this.due) each.before = this.kept.length
  }

  private countStep(): void {
    const calls = this.step.close()
    for (const call of calls) this.count(call, { calls })
  }

  private count({ name, args, outcome }: StepCall, step: StepCalls): void {
    try {
      const text = this.teller.observe(this.agent, name, args, outcome, step)
      if (text !== undefined) this.due.push({ text, before: this.kept.length })
    } catch {
      // Arguments that cannot be read end the run. That is no reason to refuse a request.
    }
  }
}
