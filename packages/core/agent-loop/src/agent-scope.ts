import type { Context } from '@deepseek-ai/cordis'
import { isUnloading } from '@loopguard/cordis-internals'
import { scopeTo } from '@loopguard/tools'
import type { Agent } from './types.ts'

interface Scoped extends Agent {
  /** Nothing more is accepted; settles when nothing runs. */
  quiesce(): Promise<void>
}

/** The context of one agent, in a fiber below the loop's. It is made for who asks for it: it weighs three times what an idle agent does. */
export class AgentScope {
  private readonly loop: Context
  private readonly agent: Scoped
  private made: { readonly ctx: Context; readonly release: () => unknown; readonly unwound: Promise<void> } | undefined
  private isClosed = false

  constructor(loop: Context, agent: Scoped) {
    this.loop = loop
    this.agent = agent
  }

  /** Always the same while the agent lives. One that is first asked for once the agent has gone, or while the loop unloads, takes no effects. */
  get ctx(): Context {
    const { loop, agent } = this
    if (this.made !== undefined) return this.made.ctx
    if (isUnloading(loop)) return scopeTo(loop, agent)
    if (!this.isClosed) return (this.made = this.make()).ctx
    const gone = this.fiber()
    void gone.dispose()
    return gone.ctx
  }

  /** Settles once the agent is quiet and all that was registered through the context has gone. */
  close(): Promise<void> | undefined {
    this.isClosed = true
    void this.made?.release()
    return this.made?.unwound
  }

  /**
   * Cordis disposes all effects of a fiber at once, so what must go in order is one effect: within it, what was yielded last goes first.
   * The fiber's own disposer is yielded, not a call of it: that takes it out of the hands of the loop's fiber.
   */
  private make(): NonNullable<typeof this.made> {
    const { loop, agent } = this
    let over!: () => void
    const unwound = new Promise<void>((resolve) => (over = resolve))
    const fiber = (): Context['fiber'] => this.fiber()
    let ctx!: Context
    const release = loop.effect(
      function* () {
        const own = fiber()
        ctx = own.ctx
        yield over
        yield own.dispose
        yield () => agent.quiesce()
      },
      `agent ${JSON.stringify(agent.id)}`,
    )
    return { ctx, release, unwound }
  }

  private fiber(): Context['fiber'] {
    return scopeTo(this.loop, this.agent).plugin({ name: `agent ${this.agent.id}`, apply() {} })
  }
}
