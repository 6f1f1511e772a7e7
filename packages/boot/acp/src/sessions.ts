import { randomUUID } from 'node:crypto'
import type { Context } from '@deepseek-ai/cordis'
import { type LoadSessionRequest, type NewSessionRequest, RequestError } from '@agentclientprotocol/sdk'
import type { Agent, AgentOptions } from '@loopguard/agent-loop'
import { SessionId } from '@loopguard/llm'
import type { Session } from '@loopguard/session'
import { refusalOf } from './answers.ts'
import { checkFolder, refuseServers } from './folder.ts'
import { OpenSession, type Update } from './open-session.ts'
import type { Outbox } from './outbox.ts'
import { parentOf } from './stored.ts'

declare module '@loopguard/session' {
  interface SessionEventMap {
    /** A client of the Agent Client Protocol has opened the session, to work in this folder. */
    'acp/opened': { readonly cwd: string }
  }
}

/** The sessions of one client, by id. The id of a session is that of its agent, and the name of its log. */
export class Sessions {
  readonly open: Map<string, OpenSession> = new Map()
  private readonly ctx: Context
  private readonly pattern: AgentOptions
  private readonly outbox: Outbox<Update>
  private isLeft = false

  constructor(ctx: Context, pattern: AgentOptions, outbox: Outbox<Update>) {
    this.ctx = ctx
    this.pattern = pattern
    this.outbox = outbox
  }

  /** The client has left: a session that it has still asked for is not opened. */
  leave(): void {
    this.isLeft = true
  }

  /** @throws RequestError */
  get(id: string): OpenSession {
    const session = this.open.get(id)
    if (session === undefined) throw RequestError.sessionNotFound(id)
    return session
  }

  /** @throws RequestError */
  async create({ cwd, mcpServers }: NewSessionRequest): Promise<OpenSession> {
    refuseServers(mcpServers)
    await checkFolder(cwd)
    try {
      return this.enter(this.ctx.agentLoop.create(SessionId(randomUUID()), { ...this.pattern, cwd }), cwd)
    } catch (error) {
      throw refusalOf(error)
    }
  }

  /** Opens a session that is stored, or live, and tells the client all that it holds. @throws RequestError */
  async load({ sessionId, cwd, mcpServers }: LoadSessionRequest): Promise<OpenSession> {
    refuseServers(mcpServers)
    await checkFolder(cwd)
    const live = this.ctx.agentLoop.get(SessionId(sessionId))
    const session = live === undefined ? await this.resume(sessionId, cwd) : this.attach(live, cwd)
    session.replay()
    return session
  }

  private async resume(id: string, cwd: string): Promise<OpenSession> {
    try {
      return this.enter(await this.ctx.agentLoop.resume(SessionId(id), { ...this.pattern, cwd }), cwd)
    } catch (error) {
      throw refusalOf(error, id)
    }
  }

  /** What runs where cannot be changed: an editor must not believe that it works elsewhere. */
  private attach(agent: Agent, cwd: string): OpenSession {
    const { id, session, options } = agent
    const parent = parentOf(session.events)
    if (parent !== undefined) throw RequestError.invalidParams({ sessionId: id }, `session "${id}" is the child of "${parent}"`)
    const folder = options.cwd ?? process.cwd()
    if (folder !== cwd) {
      throw RequestError.invalidParams({ sessionId: id, cwd }, `session "${id}" is open and works in ${JSON.stringify(folder)}`)
    }
    const known = this.open.get(id)
    if (known !== undefined) return known
    const opened = new OpenSession(agent, false, this.outbox)
    this.open.set(id, opened)
    return opened
  }

  private enter(agent: Agent, cwd: string): OpenSession {
    if (this.isLeft) {
      void agent.dispose()
      throw RequestError.internalError(undefined, 'the client has left')
    }
    note(agent.session, cwd)
    const session = new OpenSession(agent, true, this.outbox)
    this.open.set(agent.id, session)
    return session
  }
}

function note(session: Session, cwd: string): void {
  const last = session.events.findLast(({ type }) => type === 'acp/opened')
  if ((last?.data as { readonly cwd?: string } | undefined)?.cwd !== cwd) session.append('acp/opened', { cwd })
}
