import { Context } from '@deepseek-ai/cordis'
import AgentLoop from '@loopguard/agent-loop'
import LlmRuntime, { createUserMessage, SessionId, text } from '@loopguard/llm'
import * as repeatToolReminder from '@loopguard/repeat-tool-reminder'
import SessionStore from '@loopguard/session'
import { ScriptedModel } from '@loopguard/testkit'
import * as timeoutPolicy from '@loopguard/timeout-policy'
import ToolRuntime, { defineTool } from '@loopguard/tools'

// 1. The host. In an app of yours, this is there already.
const ctx = new Context()
await ctx.plugin(LlmRuntime)
await ctx.plugin(SessionStore)
await ctx.plugin(ToolRuntime)
await ctx.plugin(AgentLoop)

// By itself Cordis shows no log, and a turn that fails says so to listeners and to its session only.
ctx.logger.exporter({ levels: { default: 0 }, export: ({ name, args }) => console.error(name, ...args) })
ctx.on('agent/error', ({ error }) => console.error(error))

// 2. The guards.
await ctx.plugin(timeoutPolicy)
await ctx.plugin(repeatToolReminder, { thresholds: [3, 5, 8] })

// 3. A tool with a budget. It forwards its signal, so it can be stopped.
const ping = defineTool<{ host: string }>({
  name: 'ping',
  description: 'Says whether a host answers',
  parameters: { type: 'object', properties: { host: { type: 'string' } }, required: ['host'] },
  timeoutMs: 50,
  execute: ({ host }, { signal }) =>
    host === 'slow.test'
      ? new Promise<string>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
      : `${host} does not answer`,
})
ctx.tools.register(ping)

// 4. A model. This one reads off a script: it asks the same thing three times, then something that hangs.
const again = { calls: [{ name: 'ping', arguments: { host: 'down.test' } }] }
const hangs = { calls: [{ name: 'ping', arguments: { host: 'slow.test' } }] }
ctx.llm.registerAdapter(['scripted'], new ScriptedModel([again, again, again, hangs, { text: 'Neither host answers.' }]))

// 5. An agent, and what its model reads in the end.
const agent = ctx.agentLoop.create(SessionId('operator'), { provider: 'scripted', model: 'any' })
agent.followup(createUserMessage({ content: [text('Which hosts are up?')], source: { kind: 'user' } }))
await agent.whenIdle()

for (const { content } of agent.session.deriveMessages()) {
  for (const block of content) {
    const said = block.type === 'tool-result' ? block.content : [block]
    for (const part of said) if (part.type === 'text') console.log(part.text)
  }
}
