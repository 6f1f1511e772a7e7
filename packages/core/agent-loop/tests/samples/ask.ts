import { Context } from '@deepseek-ai/cordis'
import AgentLoop from '@loopguard/agent-loop'
import LlmRuntime, { createUserMessage, type LlmAdapter, SessionId, text } from '@loopguard/llm'
import SessionStore from '@loopguard/session'
import ToolRuntime, { type ToolDefinition } from '@loopguard/tools'

/** Gives a model a tool and a question, and returns what it says in the end. */
export async function ask(model: LlmAdapter, tool: ToolDefinition, question: string): Promise<string> {
  const ctx = new Context()
  await ctx.plugin(LlmRuntime)
  await ctx.plugin(SessionStore)
  await ctx.plugin(ToolRuntime)
  await ctx.plugin(AgentLoop)
  ctx.llm.registerAdapter(['mine'], model)
  ctx.tools.register(tool)

  const agent = ctx.agentLoop.create(SessionId('helper'), { provider: 'mine', model: 'any', system: 'Be brief.' })
  agent.followup(createUserMessage({ content: [text(question)], source: { kind: 'user' } }))
  await agent.whenIdle()
  const last = agent.session.deriveMessages().at(-1)
  await ctx.fiber.dispose()
  return last?.content.map((block) => (block.type === 'text' ? block.text : block.type)).join() ?? ''
}
