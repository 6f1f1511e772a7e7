import type { SessionUpdate } from '@agentclientprotocol/sdk'
import type { Agent, DeltaEvent } from '@loopguard/agent-loop'
import type { SessionEvent } from '@loopguard/session'
import type { Outbox } from './outbox.ts'
import { Prompts } from './prompts.ts'
import { Translator } from './translator.ts'

/** An update, and the session that it is of. */
export interface Update {
  readonly sessionId: string
  readonly update: SessionUpdate
}

/** A session that the client has opened. */
export class OpenSession {
  readonly agent: Agent
  readonly prompts: Prompts
  /** Whether the agent was made for the client. */
  readonly isOwn: boolean
  private readonly outbox: Outbox<Update>
  private readonly translator = new Translator()

  constructor(agent: Agent, isOwn: boolean, outbox: Outbox<Update>) {
    this.agent = agent
    this.prompts = new Prompts(agent, (work) => outbox.mark(work))
    this.isOwn = isOwn
    this.outbox = outbox
  }

  logged(event: SessionEvent): void {
    const { translator } = this
    const isEcho = event.type === 'user/message' && this.prompts.has(event.data.id)
    this.outbox.push(() => this.updates(translator.event(event, isEcho)))
    this.prompts.logged(event)
  }

  delta(event: DeltaEvent): void {
    const { translator } = this
    this.outbox.push(() => this.updates(translator.delta(event)))
  }

  /** Tells the client all that the log holds, as if it happened now. */
  replay(): void {
    const { translator } = this
    const { events } = this.agent.session
    // What comes later is told by itself.
    const count = events.length
    const updates = this.updates.bind(this)
    this.outbox.push(function* () {
      for (let index = 0; index < count; index++) yield* updates(translator.event(events[index] as SessionEvent, false))
    })
  }

  tell(update: SessionUpdate): void {
    this.outbox.push(() => this.updates([update]))
  }

  private updates(updates: readonly SessionUpdate[]): Update[] {
    return updates.map((update) => ({ sessionId: this.agent.id, update }))
  }
}
