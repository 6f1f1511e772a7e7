import type { Settings } from './config.ts'
import { isReminder } from './text.ts'
import { type RepeatTracker, trackerWith } from './tracker.ts'

/** What the fold has to know of a message. One that has nothing of it, a system message or a text of the model, reads as `{}`. */
export interface Reading {
  /** The text of a message of the user, with which the run is over. A reminder reads so too, and is known by its text. */
  user?: string | undefined
  /** The calls that the model makes, in its order. */
  calls?: readonly { name: string; args: unknown }[] | undefined
  /** Whether the message holds results of calls. */
  results?: boolean | undefined
}

/** A reminder, and where it stands: before that one of the kept messages. */
interface Told<M> {
  readonly text: string
  before: number
  message?: M | undefined
}

/** A list of messages, as far as it was read. */
export class Fold<M> {
  readonly read: (message: M) => Reading
  private readonly tracker: RepeatTracker
  private readonly agent = {}
  private readonly seen: M[] = []
  /** Those of them that are no reminders. */
  private readonly kept: M[] = []
  private readonly told: Told<M>[] = []
  /** Those of the last step, which are told once it has a result. */
  private due: Told<M>[] = []
  private isAnswered = false
  private make: ((text: string) => M) | undefined

  constructor(settings: Settings, read: (message: M) => Reading) {
    this.tracker = trackerWith(settings)
    this.read = read
  }

  get last(): M | undefined {
    return this.seen.at(-1)
  }

  isBeginningOf(messages: readonly M[]): boolean {
    return this.seen.length <= messages.length && this.seen.every((message, index) => message === messages[index])
  }

  /** Reads the rest of a list of which this is the beginning. */
  extendTo(messages: readonly M[]): void {
    for (let index = this.seen.length; index < messages.length; index++) this.add(messages[index] as M)
  }

  /** The list with its reminders. Each is made once, as long as the same function makes them. */
  tell(make: (text: string) => M): M[] {
    const told = this.isAnswered ? [...this.told, ...this.due] : this.told
    if (make !== this.make) for (const each of told) each.message = undefined
    this.make = make
    const list: M[] = []
    let next = 0
    for (const each of told) {
      while (next < each.before) list.push(this.kept[next++] as M)
      list.push((each.message ??= make(each.text)))
    }
    while (next < this.kept.length) list.push(this.kept[next++] as M)
    return list
  }

  private add(message: M): void {
    const { user, calls = [], results = false } = this.read(message)
    this.seen.push(message)
    const isTold = user !== undefined && isReminder(user)
    if (isTold && !results) return
    // A message that brings no result, or asks for another call, is behind the step.
    if (this.isAnswered && (!results || calls.length > 0)) {
      for (const each of this.due) this.told.push(each)
      this.due = []
    }
    if (user !== undefined && !isTold) {
      this.tracker.reset(this.agent)
      this.due = []
    }
    for (const { name, args } of calls) this.count(name, args)
    this.kept.push(message)
    this.isAnswered = results
    for (const each of this.due) each.before = this.kept.length
  }

  private count(name: string, args: unknown): void {
    try {
      const text = this.tracker.observe(this.agent, name, args)
      if (text !== undefined) this.due.push({ text, before: 0 })
    } catch {
      // Arguments that cannot be read end the run. That is no reason to refuse a request.
    }
  }
}
