import { Context } from '@deepseek-ai/cordis'
import { createUserMessage, type Message, text } from '@loopguard/llm'
import SessionStore from '@loopguard/session'

/** Puts a message into a session that outlives the process, and returns all that the session has heard. */
export async function remember(directory: string, words: string): Promise<Message[]> {
  const ctx = new Context()
  await ctx.plugin(SessionStore, { directory })
  const session = await ctx.sessions.load('diary').catch(() => ctx.sessions.create('diary'))
  session.append('user/message', createUserMessage({ content: [text(words)], source: { kind: 'user' } }))
  const messages = session.deriveMessages()
  await ctx.fiber.dispose()
  return messages
}
