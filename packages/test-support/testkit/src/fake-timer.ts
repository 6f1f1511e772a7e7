/** What a timer needs of its clock. */
export interface TimerOwner {
  readonly now: number
  readonly timers: Set<FakeTimer>
}

const MAX_DELAY_MS = 2_147_483_647
let ids = 0

/** What a fake `setTimeout` returns; it answers as Node's `Timeout` does. */
export class FakeTimer {
  readonly id: number = ++ids
  due = 0
  private readonly owner: TimerOwner
  private readonly callback: () => void
  private readonly delay: number
  private readonly repeats: boolean
  private referenced = true

  constructor(owner: TimerOwner, callback: () => void, delay: number | undefined, repeats: boolean) {
    this.owner = owner
    this.callback = callback
    // As Node has it: what is no delay between 1 and the maximum counts as 1.
    this.delay = delay !== undefined && delay >= 1 && delay <= MAX_DELAY_MS ? Math.trunc(delay) : 1
    this.repeats = repeats
  }

  fire(): void {
    this.owner.timers.delete(this)
    if (this.repeats) this.refresh()
    this.callback()
  }

  refresh(): this {
    this.due = this.owner.now + this.delay
    // Added anew, so that of two that are due together the one armed first fires first.
    this.owner.timers.delete(this)
    this.owner.timers.add(this)
    return this
  }

  ref(): this {
    this.referenced = true
    return this
  }

  unref(): this {
    this.referenced = false
    return this
  }

  hasRef(): boolean {
    return this.referenced
  }

  close(): this {
    this.owner.timers.delete(this)
    return this
  }

  [Symbol.toPrimitive](): number {
    return this.id
  }

  [Symbol.dispose](): void {
    this.close()
  }
}
