import type { Context } from '@deepseek-ai/cordis'
import { type AgentConnection, MessageTooLargeError, methods } from '@agentclientprotocol/sdk'
import type { Agent } from '@loopguard/agent-loop'
import { messageOf } from '@loopguard/kit'
import type { CancelCause } from '@loopguard/session'
import { appOf } from './app.ts'
import type { Config } from './config.ts'
import type { Update } from './open-session.ts'
import { Outbox } from './outbox.ts'
import { Permissions } from './permissions.ts'
import { Sessions } from './sessions.ts'
import { endOf, type Wire, type WireEnd } from './wire.ts'

/** How long a client that does not read is waited for when everything ends. */
const FAREWELL_MS = 1_000

/** One client: its connection, its sessions, and what they are told. */
export class Door {
  /** Settles when the client has left. */
  readonly closed: Promise<void>
  readonly permissions: Permissions
  private readonly sessions: Sessions
  private readonly outbox: Outbox<Update>
  private readonly end: WireEnd
  private readonly connection: AgentConnection

  constructor(ctx: Context, config: Config, wire: Wire) {
    const { agentLoop, sessions: store } = ctx
    const logger = ctx.logger('acp')
    const log = (words: string, error?: unknown): void => logger.error(words.replaceAll('%', '%%'), error)
    this.end = endOf(wire, (error) => this.connection.close(error))
    const outbox = (this.outbox = new Outbox<Update>(
      (update) => this.connection.client.notify(methods.client.session.update, update),
      (error) => log(`an event could not be shown: ${messageOf(error)}`, error),
    ))
    this.sessions = new Sessions(ctx, config, outbox)
    this.permissions = new Permissions({ agentLoop, outbox, open: this.sessions.open, client: () => this.connection.client, log })
    this.listen(ctx, wire.deltas === true)
    this.connection = appOf({ sessions: this.sessions, store, outbox }).connect(this.end.stream)
    this.closed = this.connection.closed.then(() => {
      const { reason } = this.connection.signal
      if (reason instanceof MessageTooLargeError) log(reason.message)
      this.left()
    })
  }

  /** Cancels what the client has begun, tells it so, and hangs up. A client that does not read is not waited for. */
  async close(): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise((resolve) => (timer = setTimeout(resolve, FAREWELL_MS)))
    await Promise.race([this.takeLeave(), this.connection.closed, late])
    clearTimeout(timer)
    this.connection.close()
    this.end.hangUp()
    await this.closed
  }

  private async takeLeave(): Promise<void> {
    await Promise.all(this.cancel({ kind: 'unloaded' }).map((agent) => agent.whenIdle()))
    for (const { prompts } of this.sessions.open.values()) prompts.close()
    // The second mark lies behind the answers that the first one may have given way to.
    for (let marks = 0; marks < 2; marks++) await new Promise<void>((resolve) => this.outbox.mark(resolve))
    await this.end.written()
  }

  private left(): void {
    this.outbox.close()
    this.sessions.leave()
    for (const agent of this.cancel({ kind: 'client-left' })) if (this.sessions.open.get(agent.id)?.isOwn === true) void agent.dispose()
    for (const { prompts } of this.sessions.open.values()) prompts.close()
  }

  private cancel(cause: CancelCause): Agent[] {
    const agents = Array.from(this.sessions.open.values(), ({ agent }) => agent)
    for (const agent of agents) agent.cancel(cause)
    return agents
  }

  private listen(ctx: Context, withDeltas: boolean): void {
    const { open } = this.sessions
    const of = (agent: Agent) => {
      const session = open.get(agent.id)
      return session?.agent === agent ? session : undefined
    }
    ctx.on('session/event', (session, event) => {
      const own = open.get(session.id)
      if (own?.agent.session === session) own.logged(event)
      this.permissions.logged(session, event)
    })
    if (withDeltas) ctx.on('agent/delta', (event) => of(event.agent)?.delta(event))
    ctx.on('agent/error', ({ agent, error }) => of(agent)?.prompts.failed(error))
    ctx.on('agent/status', ({ agent, status }) => {
      if (status === 'idle') of(agent)?.prompts.idle()
    })
    ctx.on('agent/disposed', ({ agent }) => {
      of(agent)?.prompts.close()
      if (of(agent) !== undefined) open.delete(agent.id)
    })
  }
}
