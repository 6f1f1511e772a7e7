// The public DeepSeek Harness, from its published packages.
import { Context, type Plugin } from '@deepseek-ai/cordis'
import AgentRegistry, { type Agent as HarnessAgent } from '@deepseek-ai/dsh-agent'
import AgentLoop from '@deepseek-ai/dsh-agent-loop'
import Invariants from '@deepseek-ai/dsh-invariants'
import LlmRuntime, { CallId, createUserMessage, LlmAdapter, type StreamChunk } from '@deepseek-ai/dsh-llm'
import SessionStore, { SessionId } from '@deepseek-ai/dsh-session'
import SystemPrompt from '@deepseek-ai/dsh-system-prompt'
import ToolRuntime, { type ToolDefinition, type ToolRunContext } from '@deepseek-ai/dsh-tools'
import type { Agent, Call, Host, Message, MountedHost, Result, Tool } from '../host.ts'
import { Complaints } from '../complaints.ts'
import { isReserved } from '../reserved.ts'
import { Scripts } from '../script.ts'

class Adapter extends LlmAdapter {
  readonly scripts = new Scripts()

  override resolveModel(provider: string, model: string): ReturnType<LlmAdapter['resolveModel']> {
    return Promise.resolve({ provider, id: model, name: model })
  }

  override async *stream(request: Parameters<LlmAdapter['stream']>[0]): AsyncGenerator<StreamChunk> {
    yield* this.scripts.stream(request.model, request.messages as readonly Message[]) as StreamChunk[]
  }
}

class Harness implements MountedHost {
  private readonly ctx = new Context()
  private readonly adapter = new Adapter()
  private readonly log = new Complaints(this.ctx)
  private calls = 0

  async start(): Promise<this> {
    const { ctx } = this
    await ctx.plugin(LlmRuntime)
    await ctx.plugin(SessionStore)
    await ctx.plugin(SystemPrompt, { persona: '' })
    await ctx.plugin(ToolRuntime, {})
    await ctx.plugin(AgentRegistry)
    await ctx.plugin(AgentLoop, { agents: [] })
    ctx.llm.registerAdapter(['scripted'], this.adapter)
    return this
  }

  on(event: string, listener: (...args: never[]) => unknown, prepend = false): () => void {
    return this.ctx.on(event as 'tools/change', listener as () => void, { prepend })
  }

  async plug(plugin: object, config?: unknown): Promise<() => Promise<void>> {
    const fiber = this.ctx.plugin(plugin as Plugin, config)
    await fiber
    return () => fiber.dispose()
  }

  tool(tool: Tool): void {
    this.ctx.tools.register(this.definition(tool))
  }

  private definition(tool: Tool): ToolDefinition {
    return {
      name: tool.name,
      description: tool.name,
      parameters: { type: 'object' },
      output: { schema: { type: 'string' }, render: (_arguments, value) => [{ type: 'text', text: value as string }] },
      ...(tool.timeoutMs !== undefined && { timeoutMs: tool.timeoutMs }),
      execute: async (args, exec) =>
        tool.run({
          arguments: args,
          signal: exec.signal,
          nested: (call) => this.execute(call, exec.signal, exec.agent, exec.token),
          conclude: () => exec.concludeTurn(),
        }),
    }
  }

  call(call: Call, options: { agent?: Agent; signal?: AbortSignal } = {}): Promise<Result> {
    return this.execute(call, options.signal ?? new AbortController().signal, options.agent?.handle as HarnessAgent | undefined)
  }

  private execute(call: Call, signal: AbortSignal, agent?: HarnessAgent, parent?: ToolRunContext['token']): Promise<Result> {
    return this.ctx.tools.execute({
      callId: CallId(`direct-${this.calls++}`),
      ...call,
      signal,
      ...(agent !== undefined && { agent }),
      ...(parent !== undefined && { parent }),
    })
  }

  agent(id: string): Promise<Agent> {
    const agent = this.ctx.agentLoop.create(SessionId(id), { provider: 'scripted', model: id })
    return Promise.resolve({
      handle: agent,
      turn: async (from, ...steps) => {
        this.adapter.scripts.queue(id, steps)
        const source = from === 'user' ? { kind: from } : { kind: from, plugin: 'interop' }
        const opening = createUserMessage({ content: [{ type: 'text', text: 'go on' }], source })
        agent.followup(opening)
        await agent.whenIdle()
        return this.adapter.scripts.since(id, opening as Message)
      },
    })
  }

  message(plugin: string, text: string): Message {
    return createUserMessage({ content: [{ type: 'text', text }], source: { kind: 'plugin', plugin } }) as Message
  }

  async invariants(): Promise<void> {
    await this.ctx.plugin(Invariants, {})
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
  title: 'DeepSeek Harness',
  lacks: {},
  differs: {
    'wrapper-throws': 'a call whose wrapper throws does not reach `tools/post-execute` there',
    'each-attempt': 'a second `next()` of one wrapper skips the wrappers inside it there',
  },
  mount: () => new Harness().start(),
}
