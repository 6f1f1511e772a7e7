import { type Context, Service } from '@deepseek-ai/cordis'
import { busOf, plain, withoutShadow } from '@loopguard/cordis-internals'
import { hopIfDue, snapshot } from '@loopguard/kit'
import { Call } from './call.ts'
import type { Pipeline } from './pipeline.ts'
import { Registry } from './registry.ts'
import type {
  PreparedCall,
  ToolAgent,
  ToolDefinition,
  ToolExecution,
  ToolExecutionInput,
  ToolExecutionMode,
  ToolExecutionResult,
  ToolGuard,
  ToolNameFilter,
  ToolSchema,
} from './types.ts'

declare module '@deepseek-ai/cordis' {
  interface Context {
    tools: ToolRuntime
  }
}

const PARALLEL: ToolExecutionMode = Object.freeze({ kind: 'parallel' })
const EXCLUSIVE: ToolExecutionMode = Object.freeze({ kind: 'exclusive' })

/**
 * `ctx.tools`: the tools, and the way of a call through its stages. What is registered goes with the fiber of the context through
 * which it was registered, and belongs to one agent alone when that context does.
 */
export class ToolRuntime extends Service {
  private readonly pipeline: Pipeline

  constructor(ctx: Context) {
    super(ctx, 'tools')
    withoutShadow(this)
    this.pipeline = { ctx, bus: busOf(ctx), registry: new Registry(), live: new Set() }
  }

  /**
   * Adds a tool, until the disposer runs. An agent's own tool shadows a shared one of the same name.
   * @throws HarnessError `BAD_TOOL` for a definition that cannot work, `TOOL_EXISTS` for a name that is taken; both name the tool.
   */
  register<Args>(definition: ToolDefinition<Args>): () => void {
    return this.pipeline.registry.register(this.ctx, definition as ToolDefinition)
  }

  /** The definition that a call of that name would run, as it was registered. */
  get(name: string, agent?: ToolAgent): ToolDefinition | undefined {
    return plain(this).pipeline.registry.find(name, agent)?.definition
  }

  /**
   * What the model of `agent` is told: deep-frozen, in order of registration, a shadowing tool in the place of the one that it
   * shadows. The very same list until a tool comes or goes.
   */
  schemas(agent?: ToolAgent): readonly ToolSchema[] {
    return this.pipeline.registry.schemasFor(agent)
  }

  /**
   * Adds a veto, until the disposer runs. Guards are asked after `tools/pre-execute` allowed, the shared ones first.
   * @throws HarnessError `BAD_GUARD` for what is no function.
   */
  guard(guard: ToolGuard): () => void {
    return this.pipeline.registry.guard(this.ctx, guard)
  }

  /**
   * Hides every tool whose name the filter does not keep, until the disposer runs: it is not offered, and a call of it is
   * `UNKNOWN_TOOL`. Through an agent's `ctx`, for that agent alone, its own tools included. Several restrictions must all keep a name.
   * @throws HarnessError `BAD_RESTRICTION` for what is no function.
   */
  restrict(filter: ToolNameFilter): () => void {
    return this.pipeline.registry.restrict(this.ctx, filter)
  }

  /**
   * Runs one call through all stages.
   * @returns the outcome, deep-frozen, failures included. Rejects for an input that is no call (`BAD_CALL`), and for nothing else.
   */
  execute(input: ToolExecutionInput): Promise<ToolExecutionResult> {
    return execute(plain(this).pipeline, input)
  }

  /** Policy of a call now, its dispatch and its end when the caller says so. Rejects with `BAD_CALL` only. */
  prepare(input: ToolExecutionInput): Promise<PreparedCall> {
    return prepare(this.pipeline, input)
  }

  /** The calls that have not finished, oldest first. */
  running(): ToolExecution[] {
    return Array.from(this.pipeline.live, ({ exec }) => exec)
  }

  /** Whether a call may overlap its neighbours in a batch. Never throws. */
  executionMode(input: Pick<ToolExecutionInput, 'name' | 'arguments' | 'agent'>): ToolExecutionMode {
    return executionMode(this.pipeline, input)
  }
}

async function execute(pipeline: Pipeline, input: ToolExecutionInput): Promise<ToolExecutionResult> {
  const call = new Call(pipeline, input)
  const hop = hopIfDue()
  if (hop !== undefined) await hop
  const preparing = call.prepare()
  if (preparing !== undefined) await preparing
  await call.dispatch()
  return call.finish()
}

async function prepare(pipeline: Pipeline, input: ToolExecutionInput): Promise<PreparedCall> {
  const call = new Call(pipeline, input)
  const hop = hopIfDue()
  if (hop !== undefined) await hop
  await call.prepare()
  return Object.freeze({
    exec: call.exec,
    dispatch: () => call.dispatch(),
    finish: () => call.finish(),
    abandon: () => call.abandon(),
    bodyMs: () => call.bodyMs,
  })
}

function executionMode(pipeline: Pipeline, input: Pick<ToolExecutionInput, 'name' | 'arguments' | 'agent'>): ToolExecutionMode {
  try {
    const tool = pipeline.registry.find(input.name, input.agent)
    return tool?.isConcurrencySafe(snapshot(input.arguments)) === true ? PARALLEL : EXCLUSIVE
  } catch {
    return EXCLUSIVE
  }
}
