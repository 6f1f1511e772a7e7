import type { Matcher } from '@loopguard/repeat'
import type { Session, SessionEvent } from '@loopguard/session'
import { type Limit, type Rule, RULES } from './limits.ts'

interface Counts {
  steps: number
  calls: number
  tokens: number
}

const none = (): Counts => ({ steps: 0, calls: 0, tokens: 0 })

/**
 * What a log says that its agent has used. A fold that goes on as the log grows, so that an agent that was resumed, and one under a
 * plugin that was loaded late, has used as much as one that lived on. The time of the log is the only clock.
 */
export class Ledger {
  /** Number of the last turn that was started, 0 before the first. */
  turn = 0
  isOpen = false
  private readonly counts: Record<Rule['per'], Counts> = { turn: none(), agent: none() }
  private readonly told: Record<Rule['per'], Set<string>> = { turn: new Set(), agent: new Set() }
  private startedAt = 0
  /** Time of the last event of the turn that no repair writes. */
  private seenAt = 0
  /** What the turns took that have ended. */
  private pastMs = 0
  private read = 0
  private readonly events: readonly SessionEvent[]
  private readonly tracks: Matcher

  constructor(events: readonly SessionEvent[], tracks: Matcher) {
    this.events = events
    this.tracks = tracks
  }

  /** Of the open turn: how many steps were started. */
  get steps(): number {
    return this.counts.turn.steps
  }

  /** Reads what the log has got since the last time. */
  catchUp(): this {
    for (; this.read < this.events.length; this.read++) this.fold(this.events[this.read] as SessionEvent)
    return this
  }

  /** How much is used of what a limit counts, equal calls apart. Of a turn that has ended nothing is. */
  used({ counts, per }: Rule, now: number): number {
    if (counts !== 'ms') return this.counts[per][counts as keyof Counts]
    const running = this.isOpen ? Math.max(0, now - this.startedAt) : 0
    return per === 'turn' ? running : this.pastMs + running
  }

  /** Whether the log says already that the limit was reached. */
  hasTold(limit: Limit, value: number): boolean {
    return this.told[RULES[limit].per].has(`${limit} ${value}`)
  }

  private fold(event: SessionEvent): void {
    if (this.isOpen && !mayBeRepair(event)) this.seenAt = event.time
    switch (event.type) {
      case 'turn/start':
        this.turn = event.data.turn
        this.isOpen = true
        this.startedAt = this.seenAt = event.time
        this.startTurn()
        return
      case 'turn/end':
        if (this.isOpen) this.pastMs += Math.max(0, (event.data.reason.kind === 'interrupted' ? this.seenAt : event.time) - this.startedAt)
        this.isOpen = false
        this.startTurn()
        return
      case 'step/start':
        this.add('steps', 1)
        return
      case 'tool/call':
        if (this.tracks(event.data.name)) this.add('calls', 1)
        return
      case 'assistant/message': {
        const { usage } = event.data
        this.add('tokens', countOf(usage?.inputTokens) + countOf(usage?.outputTokens))
        return
      }
      case 'budget/reached': {
        const { limit, value } = event.data
        // A later version may know more limits.
        const rule: Rule | undefined = RULES[limit]
        this.told[rule?.per ?? 'turn'].add(`${limit} ${value}`)
        return
      }
      default:
    }
  }

  private startTurn(): void {
    this.counts.turn = none()
    this.told.turn.clear()
  }

  private add(what: keyof Counts, count: number): void {
    this.counts.turn[what] += count
    this.counts.agent[what] += count
  }
}

/** What adapters report is foreign: a number that is none must not make a limit inert. */
function countOf(tokens: unknown): number {
  return Number.isFinite(tokens) ? Math.max(0, tokens as number) : 0
}

/** The ledger of each session, kept as long as the session. */
export function ledgers(tracks: Matcher): (session: Session) => Ledger {
  const known = new WeakMap<Session, Ledger>()
  return (session) => {
    let ledger = known.get(session)
    if (ledger === undefined) known.set(session, (ledger = new Ledger(session.events, tracks)))
    return ledger.catchUp()
  }
}

const UNANSWERED: ReadonlySet<string | undefined> = new Set(['TOOL_NOT_STARTED', 'TOOL_OUTCOME_UNKNOWN'])

/**
 * Whether an event is one of those with which a load closes the turn that a killed process left open. The loop writes them too, but
 * always in the same breath as the event before, so that leaving them out takes no time from a turn.
 */
function mayBeRepair(event: SessionEvent): boolean {
  if (event.type === 'tool/result') return UNANSWERED.has(event.data.error?.code)
  return event.type === 'turn/end' || event.type === 'step/end' || (event.type === 'inbox/removed' && event.data.cause === 'claimed')
}
