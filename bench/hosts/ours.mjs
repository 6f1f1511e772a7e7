import { Context } from '@deepseek-ai/cordis'
import AgentLoop from '@loopguard/agent-loop'
import LlmRuntime, { CallId, createUserMessage, LlmAdapter, SessionId, text } from '@loopguard/llm'
import * as reminder from '@loopguard/repeat-tool-reminder'
import SessionStore from '@loopguard/session'
import * as timeoutPolicy from '@loopguard/timeout-policy'
import ToolRuntime from '@loopguard/tools'

class Adapter extends LlmAdapter {
  constructor(chunksOf) {
    super()
    this.chunksOf = chunksOf
  }

  async *stream(request) {
    yield* this.chunksOf(request)
  }
}

/** Mounts the host, a tool that does nothing, the guards that are asked for, and then any other plugins, each alone or with its configuration. */
export async function mount({ timeout = false, remind = false, chunksOf = () => [], plugins = [], sessions = {}, id = 'bench' } = {}) {
  const ctx = new Context()
  for (const [plugin, config] of [[LlmRuntime], [SessionStore, sessions], [ToolRuntime], [AgentLoop, {}]]) await ctx.plugin(plugin, config)
  if (timeout) await ctx.plugin(timeoutPolicy)
  if (remind) await ctx.plugin(reminder, {})
  for (const plugin of plugins) await ctx.plugin(...[plugin].flat())
  ctx.llm.registerAdapter(['scripted'], new Adapter(chunksOf))
  ctx.tools.register({
    name: 'echo',
    description: 'Does nothing',
    parameters: { type: 'object' },
    timeoutMs: 60_000,
    execute: async () => 'ok',
  })
  const create = (id) => ctx.agentLoop.create(SessionId(id), { provider: 'scripted', model: 'any' })
  const agent = create(id)
  const { tools } = ctx
  const message = (words) => createUserMessage({ content: [text(words)], source: { kind: 'user' } })
  return {
    ctx,
    agent,
    create,
    message,
    call: (args, signal, as = agent) => tools.execute({ callId: CallId('call'), name: 'echo', arguments: args, agent: as, signal }),
    say: (words) => {
      agent.followup(message(words))
      return agent.whenIdle()
    },
    events: () => agent.session.events.length,
  }
}
