// Sends messages to agents that nobody has made yet: the worker that takes a message makes its agent.
import { Context } from '@deepseek-ai/cordis'
import { createUserMessage, text } from '@loopguard/llm'
import PostgresSessions from '@loopguard/session-postgres'

const AT_ONCE = 64

/** @returns the ids of the messages, by agent. */
export async function sendAll(url, agents, messages) {
  const ctx = new Context()
  await ctx.plugin(PostgresSessions, { url, worker: 'sender' })
  const sent = new Map(Array.from({ length: agents }, (_, index) => [`agent-${String(index).padStart(4, '0')}`, []]))
  const work = Array.from({ length: messages }, () => [...sent.keys()]).flat()
  const one = async () => {
    for (let agent = work.shift(); agent !== undefined; agent = work.shift()) {
      const message = createUserMessage({ content: [text('Do it.')], source: { kind: 'user' } })
      sent.get(agent).push(message.id)
      await send(ctx, agent, message)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, one))
  await ctx.fiber.dispose()
  return sent
}

/** Again with the same id is the same message: who does not know whether it has arrived sends it once more. */
async function send(ctx, agent, message) {
  for (;;) {
    try {
      return await ctx.sessions.send(agent, message)
    } catch (error) {
      if (error.code !== 'DATABASE_UNREACHABLE') throw error
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  }
}
