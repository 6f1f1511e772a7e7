import { Context } from '@deepseek-ai/cordis'
import { CallId, SessionId } from '@loopguard/llm'
import * as repeatedFailureReminder from '@loopguard/repeated-failure-reminder'
import ToolRuntime, { type ToolExecutionResult } from '@loopguard/tools'

const ctx = new Context()
await ctx.plugin(ToolRuntime)
await ctx.plugin(repeatedFailureReminder)

ctx.tools.register({
  name: 'book_room',
  description: 'Book a room',
  parameters: {},
  execute: () => {
    throw new Error('the price is 375, but 299 was paid')
  },
})

/** Stands in for an agent of the loop: each agent has failures of its own. */
const agent = { id: SessionId('planner'), ctx }

export async function book(room: string): Promise<ToolExecutionResult> {
  const { signal } = new AbortController()
  return ctx.tools.execute({ callId: CallId('call'), name: 'book_room', arguments: { room, paid: 299 }, signal, agent })
}
