// The published DeepSeek Harness, keyless.
import { Context } from '@deepseek-ai/cordis'
import AgentRegistry from '@deepseek-ai/dsh-agent'
import AgentLoop from '@deepseek-ai/dsh-agent-loop'
import LlmRuntime, { CallId, createUserMessage, LlmAdapter } from '@deepseek-ai/dsh-llm'
import SessionStore, { SessionId } from '@deepseek-ai/dsh-session'
import SystemPrompt from '@deepseek-ai/dsh-system-prompt'
import ToolRuntime from '@deepseek-ai/dsh-tools'
import * as timeoutPolicy from '@deepseek-ai/dsh-tool-call-timeout-policy'
import * as reminder from '@deepseek-ai/dsh-repeat-tool-reminder'

class Adapter extends LlmAdapter {
  constructor(chunksOf) {
    super()
    this.chunksOf = chunksOf
  }

  resolveModel(provider, model) {
    return Promise.resolve({ provider, id: model, name: model })
  }

  async *stream(request) {
    yield* this.chunksOf(request)
  }
}

/** Mounts the host, a tool that does nothing, and the guards that are asked for. */
export async function mount({ timeout = false, remind = false, chunksOf = () => [] } = {}) {
  const ctx = new Context()
  for (const [plugin, config] of [
    [LlmRuntime],
    [SessionStore],
    [SystemPrompt, { persona: '' }],
    [ToolRuntime, {}],
    [AgentRegistry],
    [AgentLoop, { agents: [] }],
  ]) {
    await ctx.plugin(plugin, config)
  }
  if (timeout) await ctx.plugin(timeoutPolicy)
  if (remind) await ctx.plugin(reminder, {})
  ctx.llm.registerAdapter(['scripted'], new Adapter(chunksOf))
  ctx.tools.register({
    name: 'echo',
    description: 'Does nothing',
    parameters: { type: 'object' },
    timeoutMs: 60_000,
    output: { schema: { type: 'string' }, render: (_arguments, value) => [{ type: 'text', text: value }] },
    execute: async () => 'ok',
  })
  const agent = ctx.agentLoop.create(SessionId('bench'), { provider: 'scripted', model: 'any' })
  const { tools } = ctx
  return {
    ctx,
    agent,
    call: (args, signal) => tools.execute({ callId: CallId('call'), name: 'echo', arguments: args, agent, signal }),
    say: (text) => {
      agent.followup(createUserMessage({ content: [{ type: 'text', text }], source: { kind: 'user' } }))
      return agent.whenIdle()
    },
    events: () => agent.session.events.length,
  }
}
