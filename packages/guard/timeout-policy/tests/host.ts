import { Context } from '@deepseek-ai/cordis'
import ToolRuntime, { type ToolDefinition, type ToolExecutionInput, type ToolExecutionResult, type ToolRunContext } from '@loopguard/tools'
import { mountInvariants } from '@loopguard/testkit'
import { onTestFinished, vi } from 'vitest'

export type Body = (exec: ToolRunContext) => string | Promise<string>
export type CallOptions = Partial<Pick<ToolExecutionInput, 'signal' | 'agent' | 'parent'>>

/**
 * A real context with the real pipeline in it; plugins are added by the test, in the order that it is about. The invariants of all
 * packages are watched, unless the test breaks them on purpose.
 */
export class Host {
  readonly ctx = new Context()
  private calls = 0

  static async start({ invariants = true }: { invariants?: boolean } = {}): Promise<Host> {
    const host = new Host()
    await host.ctx.plugin(ToolRuntime)
    if (invariants) {
      const watch = await mountInvariants(host.ctx)
      onTestFinished(() => watch.assertNone())
    }
    return host
  }

  tool(
    name: string,
    timeoutMs: number | undefined,
    body: Body,
    ctx: Context = this.ctx,
  ): ToolDefinition & { timeoutMs?: number | undefined } {
    const definition = { name, description: '', parameters: {}, timeoutMs, execute: (_args: unknown, exec: ToolRunContext) => body(exec) }
    ctx.tools.register(definition)
    return definition
  }

  call(name: string, { signal = new AbortController().signal, ...rest }: CallOptions = {}): Promise<ToolExecutionResult> {
    const callId = `call-${++this.calls}` as ToolExecutionInput['callId']
    return this.ctx.tools.execute({ callId, name, arguments: {}, signal, ...rest })
  }
}

/** A body that does nothing but wait for its signal, and a gate that opens when it has started. */
export class Hanging {
  readonly signals: AbortSignal[] = []
  private waiting: (() => void) | undefined
  private readonly afterwards: (exec: ToolRunContext) => string | Promise<string>

  /** What the body does once it is aborted; without it, it rejects with the reason. */
  constructor(afterwards?: (exec: ToolRunContext) => string | Promise<string>) {
    this.afterwards =
      afterwards ??
      ((exec) => {
        throw exec.signal.reason
      })
  }

  readonly body: Body = async (exec) => {
    this.signals.push(exec.signal)
    this.waiting?.()
    await aborted(exec.signal)
    return this.afterwards(exec)
  }

  /** Resolves when the body has started `count` times. */
  async started(count = 1): Promise<AbortSignal> {
    while (this.signals.length < count) await new Promise<void>((resolve) => (this.waiting = resolve))
    return this.signals[count - 1] as AbortSignal
  }
}

export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

/** For after each test on a fake clock: whatever the outcome, no timer is left. */
export function assertNoTimer(): void {
  const timers = vi.getTimerCount()
  if (timers !== 0) throw new Error(`${timers} timers are left`)
}

/** The result that the model gets in place of a late one, to the letter. */
export function timedOut(timeoutMs: number) {
  return {
    isError: true,
    content: [{ type: 'text', text: `Error: tool call timed out after ${timeoutMs}ms` }],
    error: { message: `tool call timed out after ${timeoutMs}ms`, info: { name: 'ToolTimeoutError', code: 'TOOL_TIMEOUT' } },
  }
}

export function text(value: string) {
  return { isError: false, content: [{ type: 'text', text: value }] }
}
