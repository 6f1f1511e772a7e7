import type { Context } from '@deepseek-ai/cordis'
import type { Frontend } from '@loopguard/agent-loop'
import type { Outlet } from '../show/outlet.ts'
import { Chat, type PageWriter } from './chat.ts'
import { type AgentChoice, chosenAgent } from './chosen-agent.ts'
import { TerminalScreen } from './chat-screen.ts'

export interface FrontParts {
  readonly choice: AgentChoice
  readonly out: Outlet
  readonly notes: Outlet
  readonly page: PageWriter
}

/** The front end of a run: begins the conversation when all rows have started, and is closed when the person leaves. */
export class ChatFront implements Frontend {
  readonly ownsStdout = true
  readonly closed: Promise<void>
  /** Why there was no conversation. */
  fault: unknown
  private readonly parts: FrontParts
  private readonly close: () => void
  private ended: Promise<void> | undefined
  private screen: TerminalScreen | undefined
  private chat: Chat | undefined

  constructor(parts: FrontParts) {
    this.parts = parts
    const { promise, resolve } = Promise.withResolvers<void>()
    this.closed = promise
    this.close = resolve
  }

  /** Before any row starts. */
  attach(ctx: Context): void {
    ctx.provide('frontend', this)
    ctx.effect(() => () => this.leave(), 'loopguard chat: the terminal')
    ;(ctx.on as unknown as (name: string, heard: () => void) => void).call(ctx, 'loopguard/ready', () => void this.begin(ctx))
  }

  private async begin(ctx: Context): Promise<void> {
    const { choice, out, notes, page } = this.parts
    try {
      const agent = await chosenAgent(ctx, choice)
      const streams = [out.stream, ...(notes.style.isTerminal ? [notes.stream] : [])]
      this.screen = new TerminalScreen({ input: process.stdin, style: out.style, streams })
      this.chat = new Chat({ agent, style: out.style, screen: this.screen, page, leave: () => void this.leave() })
      this.chat.attach(ctx)
      if ((ctx.get('approval') ?? undefined) === undefined) ctx.provide('approval', this.chat.asking.questions)
    } catch (fault) {
      this.fault = fault
      await this.leave()
    }
  }

  private leave(): Promise<void> {
    this.ended ??= (async () => {
      this.chat?.asking.questions.close()
      await this.screen?.end()
      this.close()
    })()
    return this.ended
  }
}
