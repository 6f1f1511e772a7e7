import { Context } from '@deepseek-ai/cordis'
import { createUserMessage, text } from '@loopguard/llm'
import PostgresSessions from '@loopguard/session-postgres'

/** Queues a message for an agent, whichever machine it runs on. */
export async function say(url: string, agent: string, words: string): Promise<void> {
  const ctx = new Context()
  await ctx.plugin(PostgresSessions, { url } as object)
  await (ctx.sessions as PostgresSessions).send(agent, createUserMessage({ content: [text(words)], source: { kind: 'user' } }))
  await ctx.fiber.dispose()
}
