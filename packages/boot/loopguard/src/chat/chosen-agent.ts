import type { Context } from '@deepseek-ai/cordis'
import type { Agent, AgentLoop } from '@loopguard/agent-loop'
import { codeOf } from '@loopguard/kit'
import { LogFault } from '../logs/fault.ts'

export interface AgentChoice {
  readonly agent?: string | undefined
  readonly resume?: string | undefined
}

/**
 * The agent that is talked to: the one that is named, else the first of the configuration. A session that is resumed gets one of its own,
 * made as that agent was.
 * @throws LogFault when there is no such agent or session, or nothing serves its provider.
 */
export async function chosenAgent(ctx: Context, { agent: id, resume }: AgentChoice): Promise<Agent> {
  const loop = (ctx.get('agentLoop') ?? undefined) as AgentLoop | undefined
  if (loop === undefined) throw new LogFault(`no agent loop runs. ${ADVICE}`)
  const agents = loop.list()
  const pattern = id === undefined ? (loop.configured()[0] ?? agents[0]) : agents.find((agent) => agent.id === id)
  if (pattern === undefined) {
    const known = agents.map((agent) => `"${agent.id}"`).join(', ')
    throw new LogFault(
      id === undefined
        ? `the row @loopguard/agent-loop has no agents. ${ADVICE}`
        : `there is no agent "${id}" (there is: ${known === '' ? 'none' : known})`,
    )
  }
  const { provider } = pattern.options
  const served = (ctx.get('llm') as { providers?(): readonly string[] } | undefined)?.providers?.()
  if (served !== undefined && !served.includes(provider)) {
    throw new LogFault(
      `no row serves the provider "${provider}" of the agent "${pattern.id}" (served: ${served.join(', ') || 'none'}). ${ADVICE}`,
    )
  }
  return resume === undefined ? pattern : (agents.find((agent) => agent.id === resume) ?? resumed(loop, resume, pattern))
}

async function resumed(loop: AgentLoop, id: string, { options }: Agent): Promise<Agent> {
  try {
    return await loop.resume(id as Agent['id'], options)
  } catch (error) {
    if (codeOf(error) === 'SESSION_NOT_FOUND')
      throw new LogFault(`there is no session "${id}"; \`loopguard sessions\` lists those that are stored`)
    throw error
  }
}

/** What a person has to add who has no model. */
export const ADVICE = `A model is a row of cordis.yml, with its key in the environment:

  - name: '@loopguard/ai-sdk-model'
    config: { provider: deepseek, kind: deepseek }

for DeepSeek (npm install @ai-sdk/deepseek; DEEPSEEK_API_KEY), and likewise for openai, anthropic and google. With no more rows than that, \`loopguard chat\` adds what it needs; in a composition of your own, an agent names it:

  - name: '@loopguard/agent-loop'
    config: { agents: [{ id: chat, provider: deepseek, model: deepseek-chat }] }`
