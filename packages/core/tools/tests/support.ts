import { Context } from '@deepseek-ai/cordis'
import { CallId, createUserMessage, SessionId, type UserMessage } from '@loopguard/llm'
import {
  scopeTo,
  type ToolAgent,
  type ToolDefinition,
  type ToolExecution,
  type ToolExecutionInput,
  type ToolExecutionResult,
  ToolRuntime,
} from '@loopguard/tools'
import { mountInvariants } from '@loopguard/testkit'
import { expect, onTestFinished } from 'vitest'

export type CallOptions = Partial<Omit<ToolExecutionInput, 'callId'>>

/** A real context with the real pipeline in it, and one tool, `echo`, that does what `body` says. */
export class Host {
  readonly ctx = new Context()
  body: ToolDefinition['execute']
  private calls = 0

  private constructor(body: ToolDefinition['execute']) {
    this.body = body
  }

  /** The invariants of all packages are watched, and fail the test when one is broken, unless it breaks them on purpose. */
  static async start(
    body: ToolDefinition['execute'] = () => 'done',
    { invariants = true, ...rest }: Partial<ToolDefinition> & { invariants?: boolean } = {},
  ): Promise<Host> {
    const host = new Host(body)
    await host.ctx.plugin(ToolRuntime)
    if (invariants) {
      const watch = await mountInvariants(host.ctx)
      onTestFinished(() => watch.assertNone())
    }
    host.tool({ execute: (args, exec) => host.body(args, exec), ...rest })
    return host
  }

  get tools(): ToolRuntime {
    return this.ctx.tools
  }

  tool(definition: Partial<ToolDefinition>, ctx: Context = this.ctx): () => void {
    return ctx.tools.register({ name: 'echo', description: '', parameters: {}, execute: () => 'done', ...definition })
  }

  input({ signal = new AbortController().signal, ...rest }: CallOptions = {}): ToolExecutionInput {
    return { callId: CallId(`call-${++this.calls}`), name: 'echo', arguments: {}, signal, ...rest }
  }

  call(options: CallOptions = {}): Promise<ToolExecutionResult> {
    return this.ctx.tools.execute(this.input(options))
  }

  /** An agent, as the loop makes one: its context has a fiber of its own, and disposing that ends it. */
  async agent(id: string, parent: Context = this.ctx): Promise<ToolAgent & { dispose(): Promise<void> }> {
    let own!: Context
    const fiber = parent.plugin({ name: id, inject: ['tools'], apply: (ctx: Context) => void (own = ctx) })
    await fiber
    const agent: ToolAgent & { dispose(): Promise<void> } = {
      id: SessionId(id),
      get ctx() {
        return scoped
      },
      dispose: () => fiber.dispose(),
    }
    const scoped = scopeTo(own, agent)
    return agent
  }
}

/** Notes the stages that a call passes, in order, as listeners on the inside of all that a test registers later. */
export function traceStages(ctx: Context): string[] {
  const trace: string[] = []
  ctx.on('tools/pre-execute', (_exec, next) => (trace.push('pre'), next()))
  ctx.on('tools/execute', (_exec, next) => (trace.push('execute'), next()))
  ctx.on('tools/post-execute', (_exec, _result, next) => (trace.push('post'), next()))
  ctx.on('tools/result', () => void trace.push('result'))
  return trace
}

/** A user message that says `text`. */
export function context(text: string): UserMessage {
  return createUserMessage({ content: [{ type: 'text', text }], source: { kind: 'plugin', plugin: 'test' } })
}

/** What the model reads of a result. */
export function said({ content }: ToolExecutionResult): string {
  return content.map((block) => (block.type === 'text' ? block.text : `<${block.type}>`)).join('\n')
}

/** What the contexts of a result say, in order. */
export function contextsOf({ additionalContexts = [] }: ToolExecutionResult): string[] {
  return additionalContexts.map(({ content }) => content.map((block) => (block.type === 'text' ? block.text : block.type)).join())
}

export const codeOf = (result: ToolExecutionResult): string | undefined => (result.isError ? result.error.info?.code : 'success')

/** Narrows, and fails the test if there is nothing to narrow. */
export function failed(result: ToolExecutionResult): Extract<ToolExecutionResult, { isError: true }> {
  expect(result.isError).toBe(true)
  return result as Extract<ToolExecutionResult, { isError: true }>
}

/** All objects and arrays in `value` that are not frozen. */
export function unfrozen(value: unknown): unknown[] {
  const found: unknown[] = []
  const work = [value]
  for (let at = work.pop(); at !== undefined; at = work.pop()) {
    if (typeof at !== 'object' || at === null) continue
    if (!Object.isFrozen(at)) found.push(at)
    work.push(...Object.values(at))
  }
  return found
}

/** Hands on what it is given, typed as whatever the place wants: for answers that no type allows. */
export const bogus = (value: unknown): never => value as never

export type { ToolExecution }
