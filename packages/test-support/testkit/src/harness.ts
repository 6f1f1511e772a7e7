import { Context, type Plugin } from '@deepseek-ai/cordis'
import { AgentLoop, type Agent, type AgentOptions, type Config as LoopConfig } from '@loopguard/agent-loop'
import type { Config as InvariantsConfig } from '@loopguard/invariants'
import { createUserMessage, type LlmAdapter, LlmRuntime, SessionId, text, type UserMessage } from '@loopguard/llm'
import { type Config as SessionConfig, type SessionBackend, SessionStore } from '@loopguard/session'
import { type ToolDefinition, ToolRuntime } from '@loopguard/tools'
import { captureErrors, type LoggedError } from './error-log.ts'
import { type InvariantWatch, mountInvariants, settle } from './invariants.ts'
import type { ScriptEntry } from './script.ts'
import { ScriptedModel } from './scripted-model.ts'

/** A plugin, alone or with its configuration. */
export type HarnessPlugin = Plugin | readonly [plugin: Plugin, config: unknown]

export interface HarnessOptions {
  /** What the model answers. Default: nothing, each request fails with `SCRIPT_EXHAUSTED`; `model.push()` adds entries later. */
  readonly script?: readonly ScriptEntry[]
  /** Another adapter in place of the scripted model. Then `model` gets no requests. */
  readonly adapter?: LlmAdapter
  /** Configuration of the agent loop. */
  readonly loop?: Partial<LoopConfig>
  /** Where sessions are kept: a configuration of the store, or a backend such as `FaultyBackend`. Default: in memory. */
  readonly sessions?: SessionConfig | SessionBackend
  /** Registered for all agents. */
  readonly tools?: readonly ToolDefinition[]
  /**
   * Mounts the registry of invariants and all companions, between the host and `plugins`; the disposal fails when a contract was
   * broken. `false` is for tests that break things on purpose; a configuration of the registry leaves packages out. Default `true`.
   */
  readonly invariants?: boolean | InvariantsConfig
  /** Guards, companions and listeners: mounted after the host, in this order, each once the one before is active. */
  readonly plugins?: readonly HarnessPlugin[]
}

export interface HarnessAgentOptions extends Partial<AgentOptions> {
  /** Default: `agent-1`, `agent-2`, … */
  readonly id?: string
}

/** A whole host on a real context, with nothing faked but the model. */
export interface Harness extends AsyncDisposable {
  readonly ctx: Context
  readonly model: ScriptedModel
  /** What was logged at error level so far: empty when all went well. */
  readonly log: readonly LoggedError[]
  /** Makes an agent that speaks to the model of this harness. */
  agent(options?: HarnessAgentOptions): Agent
  /** Sends a user's message and waits until the agent is idle. */
  say(agent: Agent, words: string): Promise<void>
  /** Unloads everything and waits for it. Rejects with what the invariants have found, unless they were turned off. */
  dispose(): Promise<void>
}

const PROVIDER = 'scripted'

/**
 * Mounts `llm`, `sessions`, `tools` and `agentLoop` on a fresh context, then the plugins.
 * @throws what a plugin throws while it starts, its refused configuration included; what was mounted by then is gone again.
 */
export async function createHarness(options: HarnessOptions = {}): Promise<Harness> {
  const { script, loop = {}, sessions = {}, tools = [], invariants = true, plugins = [] } = options
  const ctx = new Context()
  await settle(ctx)
  const log = captureErrors(ctx)
  const model = new ScriptedModel(script)
  let watch: InvariantWatch | undefined
  try {
    await ctx.plugin(LlmRuntime)
    if ('create' in sessions) await ctx.plugin({ name: 'sessions', apply: (own: Context) => void new SessionStore(own, {}, sessions) })
    else await ctx.plugin(SessionStore, sessions)
    await ctx.plugin(ToolRuntime)
    await ctx.plugin(AgentLoop, loop)
    if (invariants !== false) watch = await mountInvariants(ctx, invariants === true ? {} : invariants)
    for (const entry of plugins) {
      const [plugin, config] = isPair(entry) ? entry : [entry, undefined]
      await ctx.plugin(plugin, config as never)
    }
    ctx.llm.registerAdapter([PROVIDER], options.adapter ?? model)
    for (const tool of tools) ctx.tools.register(tool)
  } catch (error) {
    await ctx.fiber.dispose()
    throw error
  }
  const dispose = async (): Promise<void> => {
    await ctx.fiber.dispose()
    watch?.assertNone()
  }
  let made = 0
  return {
    ctx,
    model,
    log,
    agent: ({ id = `agent-${++made}`, provider = PROVIDER, model: name = PROVIDER, ...rest } = {}) =>
      ctx.agentLoop.create(SessionId(id), { provider, model: name, ...rest }),
    say: (agent, words) => {
      agent.followup(userMessage(words))
      return agent.whenIdle()
    },
    dispose,
    [Symbol.asyncDispose]: dispose,
  }
}

/** A message of the user. */
export function userMessage(words: string): UserMessage {
  return createUserMessage({ content: [text(words)], source: { kind: 'user' } })
}

function isPair(entry: HarnessPlugin): entry is readonly [Plugin, unknown] {
  return Array.isArray(entry)
}
