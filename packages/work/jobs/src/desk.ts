import type { Agent } from '@loopguard/agent-loop'
import type { CallId, MessageId, UserMessage } from '@loopguard/llm'
import type { SessionEvent } from '@loopguard/session'
import { isNotice, noticeOf } from './notice.ts'
import type { JobInfo } from './types.ts'

/** What a desk needs of its surroundings. */
export interface DeskHost {
  /** How often notices may wake the agent after the last message of a user. */
  readonly maxWakes: number
  /** Whether the job was read to its end, by the model or for it. */
  isReadOut(agent: Agent, id: string): boolean
  /** Told of what an agent did not take. */
  report(agent: Agent, error: unknown): void
}

/**
 * Tells one agent of the ends of its jobs, each once, and none that it has read already or brought about.
 *
 * What the model can read of an end in a step that it is in, or about to enter, decides whether it must be told: so the notice waits until
 * that step has ended. Between steps it is queued at once, and the next step has it.
 */
export class Desk {
  private readonly agent: Agent
  private readonly host: DeskHost
  /** Ends to tell of. */
  private due: JobInfo[] = []
  /** Jobs whose end needs no notice. */
  private readonly told = new Set<string>()
  /** Notices in the inbox; `true` for those that must not wake the agent any more. */
  private readonly queued = new Map<MessageId, { readonly message: UserMessage; parked: boolean }>()
  /** What a call has read, until its result stands in the log. */
  private readonly reads = new Map<CallId, () => void>()
  private wakes = 0
  /** A step is open, or has claimed what it begins with. */
  private isInStep: boolean
  /** Whether a turn has run since the agent was woken, and how the last one ended. */
  private turn: 'none' | 'aborted' | 'ended' = 'ended'

  constructor(agent: Agent, host: DeskHost) {
    this.agent = agent
    this.host = host
    this.isInStep = stepIsOpen(agent.session.events)
    for (const message of [...agent.inbox.nextStep, ...agent.inbox.nextTurn]) {
      if (isNotice(message)) this.queued.set(message.id, { message, parked: true })
    }
  }

  /** A step has claimed what it begins with. */
  claimed(): void {
    this.isInStep = true
  }

  ended(job: JobInfo): void {
    this.due.push(job)
    if (!this.isInStep) this.tell()
  }

  /** Runs `accept` once the result of that call stands in the log; at once for a call that the log does not hold. */
  whenLogged(callId: CallId, accept: () => void): void {
    if (this.isLogged(callId)) this.reads.set(callId, accept)
    else accept()
  }

  /** The model knows of the end of that job, or will not wonder. */
  known(id: string): void {
    this.told.add(id)
  }

  logged(event: SessionEvent): void {
    switch (event.type) {
      case 'step/start':
        this.isInStep = true
        return
      case 'step/end':
        this.reads.clear()
        this.isInStep = false
        this.tell()
        return
      case 'turn/end':
        this.turn = event.data.reason.kind === 'aborted' ? 'aborted' : 'ended'
        this.isInStep = false
        this.tell()
        return
      case 'tool/result': {
        const { source, content } = event.data.message
        if (content[0].isError !== true) this.reads.get(source.callId)?.()
        this.reads.delete(source.callId)
        return
      }
      case 'user/message':
        if (event.data.source.kind === 'user') this.wakes = 0
        return
      case 'inbox/queued':
        if (isNotice(event.data.message)) this.keep(event.data.message)
        return
      case 'inbox/removed':
        this.removed(event.data)
        return
      default:
    }
  }

  /** The agent was woken. */
  running(): void {
    this.turn = 'none'
  }

  /** The agent is idle. A notice that came while its turn was closing wakes it, unless it was cancelled. */
  idle(): void {
    this.isInStep = false
    this.tell()
    if (this.agent.status !== 'idle') return
    const waiting = [...this.queued.values()].filter(({ parked }) => !parked)
    if (this.turn !== 'ended') for (const each of waiting) each.parked = true
    else if (waiting[0] !== undefined) this.wake(waiting[0].message)
  }

  private tell(): void {
    const { due } = this
    this.due = []
    for (const job of due) {
      if (this.told.delete(job.id) || this.host.isReadOut(this.agent, job.id)) continue
      const message = noticeOf(job)
      if (this.agent.status === 'running') this.attempt(() => this.agent.inject(message))
      else this.wake(message)
    }
  }

  /** Within the limit; beyond it the message waits for the next wake. */
  private wake(message: UserMessage): void {
    const { agent } = this
    if (this.wakes >= this.host.maxWakes) {
      this.attempt(() => agent.inject(message))
      const entry = this.queued.get(message.id)
      if (entry !== undefined) entry.parked = true
      return
    }
    this.wakes++
    // In front of a turn that waits already: the model must not read the end there, and be told of it afterwards.
    const isFirst = agent.inbox.nextTurn.length === 0 && !this.queued.has(message.id)
    this.attempt(() => (isFirst ? agent.followup(message) : agent.steer(message)))
  }

  private keep(message: UserMessage): void {
    if (!this.queued.has(message.id)) this.queued.set(message.id, { message, parked: false })
  }

  private removed({ ids, cause }: SessionEvent<'inbox/removed'>['data']): void {
    for (const id of ids) {
      const entry = this.queued.get(id)
      if (entry === undefined) continue
      this.queued.delete(id)
      if (cause !== 'discarded') continue
      // A cancel ends what the agent does; what has happened to its jobs stays so.
      this.queued.set(id, { ...entry, parked: true })
      this.attempt(() => this.agent.inject(entry.message))
    }
  }

  private isLogged(callId: CallId): boolean {
    const { events } = this.agent.session
    const start = events.findLastIndex(({ type }) => type === 'step/start')
    return this.isInStep && events.slice(start).some((event) => event.type === 'tool/call' && event.data.callId === callId)
  }

  private attempt(work: () => void): void {
    try {
      work()
    } catch (error) {
      this.host.report(this.agent, error)
    }
  }
}

function stepIsOpen(events: readonly SessionEvent[]): boolean {
  return events.findLast(({ type }) => type === 'step/start' || type === 'step/end')?.type === 'step/start'
}
