// Plain Cordis 4.0.0-rc.10, which has neither tools nor agents: a loop of the suite's own over `pipeline.ts`.
import { Context, type Plugin } from 'cordis'
import { Complaints } from '../complaints.ts'
import { isReserved } from '../reserved.ts'
import type { Agent, Call, Host, Message, MountedHost, Result, Tool, ToolRun } from '../host.ts'
import { transcript } from '../transcript.ts'
import { execute, ToolTable } from './pipeline.ts'

interface Origin {
  readonly agent?: object
  readonly parent?: symbol
  readonly signal?: AbortSignal
}

class PlainCordis implements MountedHost {
  private readonly ctx = new Context()
  private readonly log = new Complaints(this.ctx)
  private messages = 0

  async start(): Promise<this> {
    await this.ctx.plugin(ToolTable)
    return this
  }

  on(event: string, listener: (...args: never[]) => unknown, prepend = false): () => void {
    return this.ctx.on(event as 'tools/result', listener as () => void, { prepend })
  }

  async plug(plugin: object, config?: unknown): Promise<() => Promise<void>> {
    const fiber = this.ctx.plugin(plugin as Plugin, config)
    await fiber
    return async () => fiber.dispose()
  }

  tool(tool: Tool): void {
    this.ctx.tools.add(tool)
  }

  call(call: Call, options: { agent?: Agent; signal?: AbortSignal } = {}): Promise<Result> {
    return this.run(call, { ...options, ...(options.agent !== undefined && { agent: options.agent.handle }) } as Origin)
  }

  private run(call: Call, { agent, parent, signal = new AbortController().signal }: Origin): Promise<Result> {
    const token = Symbol(call.name)
    const exec = { ...call, token, signal, ...(agent !== undefined && { agent }), ...(parent !== undefined && { parent }) }
    return execute(this.ctx, exec, async () => {
      const tool = this.ctx.tools.get(call.name)
      if (tool === undefined) throw Object.assign(new Error(`unknown tool "${call.name}"`), { code: 'UNKNOWN_TOOL' })
      const nested: ToolRun['nested'] = (inner) =>
        this.run(inner, { ...(agent !== undefined && { agent }), parent: token, signal: exec.signal })
      return tool.run({ arguments: call.arguments, signal: exec.signal, nested, conclude: () => undefined })
    })
  }

  agent(): Promise<Agent> {
    const handle = {}
    const turn: Agent['turn'] = async (from, ...steps) => {
      const opening = this.user({ kind: from, ...(from === 'plugin' && { plugin: 'interop' }) }, 'go on')
      const read: Message[] = []
      let pending: Message[] = [opening]
      for (const calls of [...steps, []]) {
        const step = { agent: handle, messages: pending }
        await this.ctx.waterfall('agent/pre-step', step, () => Promise.resolve({ kind: 'enter' as const, messages: step.messages }))
        pending = await this.batch(handle, calls, read)
      }
      return transcript(read)
    }
    return Promise.resolve({ handle, turn })
  }

  /** One batch: calls, results, and after the last result the contexts. */
  private async batch(agent: object, calls: readonly Call[], read: Message[]): Promise<Message[]> {
    const contexts: Message[] = []
    const results: Message[] = []
    for (const call of calls) {
      const { isError, content, additionalContexts = [] } = await this.run({ ...call, arguments: parsed(call.arguments) }, { agent })
      results.push(this.user({ kind: 'tool' }, { type: 'tool-result', content, isError } as never))
      contexts.push(...additionalContexts)
    }
    if (calls.length > 0) read.push(this.assistant(calls), ...results, ...contexts)
    return contexts
  }

  private assistant(calls: readonly Call[]): Message {
    return { content: calls.map(({ name }) => ({ type: 'tool-call', name }) as Message['content'][number]), source: { kind: 'model' } }
  }

  private user(source: Message['source'], content: string | Message['content'][number]): Message {
    const block = typeof content === 'string' ? { type: 'text', text: content } : content
    return { id: `message-${this.messages++}`, role: 'user', content: [block], source }
  }

  message(plugin: string, text: string): Message {
    return this.user({ kind: 'plugin', plugin }, text)
  }

  async invariants(): Promise<void> {
    const { InvariantRegistry } = await import('@loopguard/invariants')
    await this.ctx.plugin(InvariantRegistry as unknown as Plugin, {})
  }

  reserved(packageName: string): Promise<boolean> {
    return isReserved(this.ctx.get('invariants'), packageName)
  }

  complaints(): string[] {
    return this.log.lines
  }

  async dispose(): Promise<void> {
    await this.ctx.fiber.dispose()
  }
}

/** Text that is JSON stands for what it says; other text stays text. */
function parsed(value: unknown): unknown {
  if (typeof value !== 'string') return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}

export const host: Host = {
  title: 'plain Cordis',
  lacks: { concluded: 'the loop of the suite has no such thing' },
  differs: { 'each-attempt': 'a second `next()` of one wrapper throws there' },
  mount: () => new PlainCordis().start(),
}
