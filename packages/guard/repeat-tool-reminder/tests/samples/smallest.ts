import { Context } from '@deepseek-ai/cordis'
import { CallId, SessionId } from '@loopguard/llm'
import * as repeatToolReminder from '@loopguard/repeat-tool-reminder'
import ToolRuntime, { type ToolExecutionResult } from '@loopguard/tools'

const ctx = new Context()
await ctx.plugin(ToolRuntime)
await ctx.plugin(repeatToolReminder, { exclude: ['todo_*'] })

ctx.tools.register({ name: 'look', description: 'Look at a file', parameters: {}, execute: () => 'nothing new' })

/** Stands in for an agent of the loop: each agent has a count of its own. */
const agent = { id: SessionId('reader'), ctx }

export async function look(path: string): Promise<ToolExecutionResult> {
  const { signal } = new AbortController()
  return ctx.tools.execute({ callId: CallId('call'), name: 'look', arguments: { path }, signal, agent })
}
