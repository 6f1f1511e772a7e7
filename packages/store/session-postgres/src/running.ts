import type { Agent } from '@loopguard/agent-loop'
import { codeOf, messageOf } from '@loopguard/kit'
import type { UserMessage } from '@loopguard/llm'
import type { Mail, Mailbox } from './mailbox.ts'

/** One agent that a worker runs: brings it its mail until there is none and it is idle. */
export class Running {
  private readonly agent: Agent
  private readonly mailbox: Mailbox
  private readonly tell: (line: string) => void
  /** What the log held when it was loaded. */
  private readonly logged: ReadonlySet<string>
  /** What was brought since, and may not be durable yet. */
  private readonly brought = new Set<string>()
  private isLeaving = false

  constructor(agent: Agent, mailbox: Mailbox, tell: (line: string) => void) {
    this.agent = agent
    this.mailbox = mailbox
    this.tell = tell
    this.logged = new Set(agent.session.events.flatMap(({ type, data }) => (type === 'inbox/queued' ? [data.message.id] : [])))
  }

  /** Settles when the agent is idle and no mail is left, when it may not go on, or after {@link leave}. */
  async run(): Promise<void> {
    const { agent } = this
    for (;;) {
      const hasNews = this.isLeaving ? false : await this.bring()
      await agent.whenIdle()
      if (agent.session.lost?.aborted === true) return
      // From here on what was brought stands in the log.
      if (!hasNews && (await this.settled())) return
    }
  }

  /** Brings what has come. @returns whether there was anything new. */
  async bring(): Promise<boolean> {
    if (this.isLeaving) return false
    const mail = await this.mailbox.fetch(this.agent.id)
    if (this.isLeaving) return false
    let hasNews = false
    for (const letter of mail) {
      if (this.logged.has(letter.id) || this.brought.has(letter.id)) continue
      this.brought.add(letter.id)
      hasNews = true
      await this.deliver(letter)
    }
    return hasNews
  }

  /** No more mail: the agent ends what it has begun. */
  leave(): void {
    this.isLeaving = true
  }

  private async deliver({ id, message }: Mail): Promise<void> {
    try {
      this.agent.followup(JSON.parse(message) as UserMessage)
    } catch (error) {
      if (!(error instanceof SyntaxError) && codeOf(error) !== 'BAD_MESSAGE') throw error
      this.tell(`agent "${this.agent.id}": mail ${JSON.stringify(id)} was dropped: ${messageOf(error)}`)
      await this.mailbox.drop(this.agent.id, [id])
    }
  }

  /** Whether no mail is left once what was sent again, after it had been delivered, is gone. */
  private async settled(): Promise<boolean> {
    await this.agent.session.flush()
    if (this.isLeaving) return this.agent.status === 'idle'
    const mail = await this.mailbox.fetch(this.agent.id)
    const again = mail.filter(({ id }) => this.logged.has(id) || this.brought.has(id)).map(({ id }) => id)
    if (again.length > 0) await this.mailbox.drop(this.agent.id, again)
    return again.length === mail.length && this.agent.status === 'idle'
  }
}
