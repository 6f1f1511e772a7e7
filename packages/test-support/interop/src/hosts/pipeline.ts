// All that a Cordis harness needs for the two guards: three waterfalls around each call, one before each step, and `ctx.tools.get`.
import { type Context, Service } from 'cordis'
import type { PostDecision, PreDecision } from '../decisions.ts'
import type { Exec, Message, Result, Tool } from '../host.ts'

declare module 'cordis' {
  interface Context {
    tools: ToolTable
  }
  interface Events {
    'tools/pre-execute'(exec: Exec, next: () => Promise<PreDecision>): Promise<PreDecision>
    'tools/execute'(exec: Exec, next: () => Promise<Result>): Promise<Result>
    'tools/post-execute'(exec: Exec, result: Result, next: () => Promise<PostDecision>): Promise<PostDecision>
    'tools/result'(exec: Exec, result: Result): void
    'agent/pre-step'(
      step: { agent: object; messages: readonly Message[] },
      next: () => Promise<{ kind: 'enter'; messages: readonly Message[] }>,
    ): Promise<{ kind: 'enter'; messages: readonly Message[] }>
  }
}

/** `timeout-policy` reads the budget of a tool here. */
export class ToolTable extends Service {
  private readonly tools = new Map<string, Tool>()

  constructor(ctx: Context) {
    super(ctx, 'tools')
  }

  add(tool: Tool): void {
    this.tools.set(tool.name, tool)
  }

  get(name: string): Tool | undefined {
    return this.tools.get(name)
  }
}

/** One call: gate, dispatch, judgement. `body` runs the tool with `exec.signal`, which wrappers may have replaced. */
export async function execute(ctx: Context, exec: Exec, body: () => Promise<string>): Promise<Result> {
  const gate = await ctx.waterfall('tools/pre-execute', exec, () => Promise.resolve<PreDecision>({ kind: 'allow' }))
  const result =
    gate.kind === 'allow'
      ? await ctx.waterfall('tools/execute', exec, () => dispatch(body)).catch(failure)
      : failed(gate.reason, { name: 'ToolDeniedError', code: 'DENIED' })
  const outcome = exec.signal.aborted && !result.isError ? failed('tool call aborted', { name: 'AbortError', code: 'ABORTED' }) : result
  const decision = await ctx.waterfall('tools/post-execute', exec, outcome, () => Promise.resolve<PostDecision>({ kind: 'accept' }))
  const final = apply(outcome, decision)
  ctx.emit('tools/result', exec, final)
  return final
}

async function dispatch(body: () => Promise<string>): Promise<Result> {
  try {
    return { isError: false, content: [{ type: 'text', text: await body() }] }
  } catch (error) {
    return failure(error)
  }
}

function failure(error: unknown): Result {
  const { name = 'Error', message = String(error), code } = error as { name?: string; message?: string; code?: unknown }
  return failed(message, typeof code === 'string' ? { name, code } : undefined)
}

function failed(message: string, info?: { name: string; code: string }): Result {
  const error = { message, ...(info !== undefined && { info }) }
  return { isError: true, content: [{ type: 'text', text: `Error: ${message}` }], error }
}

function apply(result: Result, decision: PostDecision): Result {
  const { additionalContexts } = decision
  const contexts = additionalContexts !== undefined && { additionalContexts }
  if (decision.kind === 'accept') return { ...result, ...(decision.content !== undefined && { content: decision.content }), ...contexts }
  const message = decision.feedback.map((block) => block.text ?? '').join('')
  return { isError: true, content: decision.feedback, error: { message, info: { name: 'ToolBlockedError', code: 'BLOCKED' } }, ...contexts }
}
