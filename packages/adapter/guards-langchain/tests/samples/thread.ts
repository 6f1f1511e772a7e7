import { MemorySaver } from '@langchain/langgraph'
import { repeatToolReminder } from '@loopguard/guards-langchain'
import { createAgent, HumanMessage, tool } from 'langchain'
import { z } from 'zod'

const status = tool(() => 'still running', { name: 'status', description: 'Status of the build', schema: z.object({}) })

type Model = Parameters<typeof createAgent>[0]['model']

/** Two turns of one thread. The state that is returned, and that the saver keeps, holds no reminder. */
export async function twoTurns(model: Model) {
  const agent = createAgent({ model, tools: [status], middleware: [repeatToolReminder()], checkpointer: new MemorySaver() })
  const thread = { configurable: { thread_id: 'build' } }
  await agent.invoke({ messages: [new HumanMessage('Wait for the build.')] }, thread)
  return agent.invoke({ messages: [new HumanMessage('And now?')] }, thread)
}
