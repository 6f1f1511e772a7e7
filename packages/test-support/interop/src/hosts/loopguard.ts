// Our own host.
import { Context, type Plugin } from '@deepseek-ai/cordis'
import { AgentLoop, type Agent as LoopAgent } from '@loopguard/agent-loop'
import { InvariantRegistry } from '@loopguard/invariants'
import { CallId, createUserMessage, LlmAdapter, type LlmRequest, LlmRuntime, SessionId, type StreamChunk, text } from '@loopguard/llm'
import { SessionStore } from '@loopguard/session'
import { type ToolAgent, type ToolExecutionToken, ToolRuntime } from '@loopguard/tools'
import { Complaints } from '../complaints.ts'
import { isReserved } from '../reserved.ts'
import type { Agent, Call, Host, Message, MountedHost, Result, Tool } from '../host.ts'
import { Scripts } from '../script.ts'

class Adapter extends LlmAdapter {
  readonly scripts = new Scripts()

  override async *stream({ model, messages }: LlmRequest): AsyncGenerator<StreamChunk> {
    yield* this.scripts.stream(model, messages) as StreamChunk[]
  }
}

class OwnHost implements MountedHost {
  private readonly ctx = new Context()
  private readonly adapter = new Adapter()
  private readonly log = new Complaints(this.ctx)
  private calls = 0

  async start(): Promise<this> {
    for (const plugin of [LlmRuntime, SessionStore, ToolRuntime]) await this.ctx.plugin(plugin as Plugin)
    await this.ctx.plugin(AgentLoop, {})
    this.ctx.llm.registerAdapter(['scripted'], this.adapter)
    return this
  }

  on(event: string, listener: (...args: never[]) => unknown, prepend = false): () => void {
    return this.ctx.on(event as 'tools/result', listener as () => void, { prepend })
  }

  async plug(plugin: object, config?: unknown): Promise<() => Promise<void>> {
    const fiber = this.ctx.plugin(plugin as Plugin, config)
    await fiber
    return () => fiber.dispose()
  }

  tool(tool: Tool): void {
    const { name, timeoutMs } = tool
    this.ctx.tools.register({
      name,
      description: name,
      parameters: {},
      timeoutMs,
      execute: (args, exec) =>
        tool.run({
          arguments: args,
          signal: exec.signal,
          nested: (call) => this.execute(call, exec.signal, exec.agent, exec.token),
          conclude: () => exec.concludeTurn(),
        }),
    })
  }

  call(call: Call, options: { agent?: Agent; signal?: AbortSignal } = {}): Promise<Result> {
    return this.execute(call, options.signal ?? new AbortController().signal, options.agent?.handle as LoopAgent | undefined)
  }

  private execute(call: Call, signal: AbortSignal, agent?: ToolAgent, parent?: ToolExecutionToken): Promise<Result> {
    return this.ctx.tools.execute({ callId: CallId(`direct-${this.calls++}`), ...call, signal, agent, parent })
  }

  agent(id: string): Promise<Agent> {
    const agent = this.ctx.agentLoop.create(SessionId(id), { provider: 'scripted', model: id })
    return Promise.resolve({
      handle: agent,
      turn: async (from, ...steps) => {
        this.adapter.scripts.queue(id, steps)
        const source = from === 'user' ? { kind: from } : { kind: from, plugin: 'interop' }
        const opening = createUserMessage({ content: [text('go on')], source })
        agent.followup(opening)
        await agent.whenIdle()
        return this.adapter.scripts.since(id, opening)
      },
    })
  }

  message(plugin: string, words: string): Message {
    return createUserMessage({ content: [text(words)], source: { kind: 'plugin', plugin } })
  }

  async invariants(): Promise<void> {
    await this.ctx.plugin(InvariantRegistry, {})
  }

  reserved(packageName: string): Promise<boolean> {
    return isReserved(this.ctx.invariants, packageName)
  }

  complaints(): string[] {
    return this.log.lines
  }

  async dispose(): Promise<void> {
    await this.ctx.fiber.dispose()
  }
}

export const host: Host = {
  title: 'our host',
  lacks: {
    'over-maximum': 'it refuses such a tool when it is registered',
    'signal-mutant': 'it puts the signal back itself after each wrapper',
  },
  differs: {},
  mount: () => new OwnHost().start(),
}
