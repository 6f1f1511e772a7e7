import type { Context } from '@deepseek-ai/cordis'
import { untraced } from '@loopguard/cordis-internals'
import { deadline, MAX_TIMER_DELAY_MS, TOOL_TIMEOUT, ToolTimeoutError } from '@loopguard/timeout'
import type { ToolDefinition, ToolDispatchExecution, ToolExecutionFailure, ToolExecutionResult } from '@loopguard/tools'

/** The plugin's name in a composition, and the name of its logger. */
export const name = 'timeout-policy'

/** It wraps `tools/execute` and reads budgets from `ctx.tools`. */
export const inject: string[] = ['tools']

/** Code of the result of a call that outlived its budget. */
export { TOOL_TIMEOUT } from '@loopguard/timeout'

/** The plugin takes no config: a tool declares its own budget as `timeoutMs`. Nothing, `null` and `{}` pass; everything else is refused. */
export const Config: NoConfig = { '~standard': { version: 1, vendor: '@loopguard/timeout-policy', validate } }

/** A Standard Schema for "none". */
export interface NoConfig {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (
      value: unknown,
    ) => { readonly value: undefined; readonly issues?: undefined } | { readonly issues: readonly Issue[] }
  }
}

interface Issue {
  readonly message: string
}

/**
 * Puts a deadline on each call of a tool that declares `timeoutMs`, and turns the outcome into `TOOL_TIMEOUT` if, and only if, that
 * very deadline has expired. It is cooperative: it aborts `exec.signal` and waits until what is inside has settled.
 *
 * A budget above `MAX_TIMER_DELAY_MS` counts as that. One that is no positive number (no host of ours registers such a tool) bounds
 * nothing: the call runs as if there were none, and the first time an error is logged that names the tool.
 */
export function apply(ctx: Context): void {
  // Bound once: what Cordis hands out makes each read of a method anew.
  const toolOf = ctx.tools.get.bind(ctx.tools)
  const log = ctx.logger(name)
  const reported = new WeakSet<ToolDefinition>()

  ctx.on(
    'tools/execute',
    untraced((exec, next) => {
      const tool = toolOf(exec.name, exec.agent)
      const budget = tool?.timeoutMs
      if (tool === undefined || budget === undefined) return next()
      if (isBudget(budget)) return within(Math.min(budget, MAX_TIMER_DELAY_MS), exec, next)
      if (!reported.has(tool)) {
        reported.add(tool)
        // As arguments: a tool's name may hold a `%s` of its own.
        log.error(
          'tool %s: timeoutMs must be a positive number, got %s; it runs without a deadline',
          JSON.stringify(exec.name),
          String(budget),
        )
      }
      return next()
    }),
  )
}

function isBudget(timeoutMs: unknown): boolean {
  return typeof timeoutMs === 'number' && timeoutMs > 0
}

async function within(
  timeoutMs: number,
  exec: ToolDispatchExecution,
  next: () => Promise<ToolExecutionResult>,
): Promise<ToolExecutionResult> {
  const caller = exec.signal
  const limit = deadline(caller, timeoutMs, TOOL_TIMEOUT)
  try {
    exec.signal = limit.signal
    const result = await next()
    return limit.expiry ? timedOut(timeoutMs, result) : result
  } catch (error) {
    if (limit.expiry) return timedOut(timeoutMs)
    throw error
  } finally {
    limit[Symbol.dispose]()
    exec.signal = caller
  }
}

/** Of what it replaces, the result keeps the contexts: the body deferred them, late or not. */
function timedOut(timeoutMs: number, replaced?: ToolExecutionResult): ToolExecutionFailure {
  const { message, name: errorName, code } = new ToolTimeoutError(timeoutMs)
  const failure: ToolExecutionFailure = {
    isError: true,
    content: [{ type: 'text', text: `Error: ${message}` }],
    error: { message, info: { name: errorName, code } },
  }
  return replaced?.additionalContexts ? { ...failure, additionalContexts: replaced.additionalContexts } : failure
}

function validate(value: unknown): ReturnType<NoConfig['~standard']['validate']> {
  const refusal = `${name} takes no config, a tool declares its own \`timeoutMs\`:`
  if (value === undefined || value === null) return { value: undefined }
  const kind = Object.prototype.toString.call(value)
  if (kind !== '[object Object]')
    return { issues: [{ message: `${refusal} got ${typeof value === 'object' ? kind : String(value as string | number | boolean)}` }] }
  const keys = Object.keys(value)
  if (keys.length === 0) return { value: undefined }
  return { issues: keys.map((key) => ({ message: `${refusal} unknown key ${JSON.stringify(key)}` })) }
}
