import { fileURLToPath } from 'node:url'
import { Context } from '@deepseek-ai/cordis'
import { CallId, createUserMessage, SessionId, text } from '@loopguard/llm'
import * as budget from '@loopguard/budget'
import { compose, ErrorLog } from 'loopguard'
import * as repeatToolReminder from '@loopguard/repeat-tool-reminder'
import { createHarness } from '@loopguard/testkit'
import * as timeoutPolicy from '@loopguard/timeout-policy'
import ToolRuntime, { type ToolDefinition } from '@loopguard/tools'

const tool: ToolDefinition = { name: 'probe', description: '', parameters: {}, execute: () => 'done' }
const silent: ToolDefinition = { ...tool, execute: (() => {}) as never }

async function configFault(plugin: object, config: unknown): Promise<string> {
  const ctx = new Context()
  await ctx.plugin(ToolRuntime)
  try {
    await ctx.plugin(plugin as never, config as never)
    return 'loaded'
  } catch (error) {
    return (error as Error).message
  } finally {
    await ctx.fiber.dispose()
  }
}

async function toolFault(definition: Partial<ToolDefinition>): Promise<string> {
  const ctx = new Context()
  await ctx.plugin(ToolRuntime)
  try {
    ctx.tools.register({ ...tool, ...definition })
    return 'registered'
  } catch (error) {
    return (error as Error).message
  }
}

async function answerOf(listen: (ctx: Context) => void, name = 'probe', definition = tool): Promise<string> {
  const ctx = new Context()
  await ctx.plugin(ToolRuntime)
  ctx.tools.register(definition)
  await ctx.plugin({ name: 'my-plugin', apply: listen })
  const { content } = await ctx.tools.execute({ callId: CallId('1'), name, arguments: {}, signal: new AbortController().signal })
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('')
}

/** What each heading of the page is, made to happen. */
export const happenings: Readonly<Record<string, () => Promise<string>>> = {
  typo: () => configFault(repeatToolReminder, { treshold: [3] }),
  thresholds: () => configFault(repeatToolReminder, { thresholds: [1.5] }),
  budgetConfig: () => configFault(timeoutPolicy, { timeoutMs: 100 }),
  budget: () => toolFault({ timeoutMs: 2_147_483_648 }),
  noLimit: () =>
    createHarness({ plugins: [[budget, { exclude: ['todo_*'] }]] }).then(
      () => 'loaded',
      (error: Error) => error.message,
    ),
  misspelt: () => toolFault({ timeoutMS: 100 } as object),
  forgotten: () => answerOf((ctx) => void ctx.on('tools/execute', (async () => {}) as never)),
  missing: async () => {
    try {
      new Context().tools.register(tool)
      return 'registered'
    } catch (error) {
      return (error as Error).message
    }
  },
  notInjected: () => configFault({ name: 'my-tools', apply: (ctx: Context) => void ctx.tools.register(tool) }, undefined),
  waits: async () => {
    const rows = [{ id: 'mine', name: '../../examples/looping-agent/tools.mjs' }]
    try {
      await compose(rows, { file: fileURLToPath(import.meta.url), loadLimitMs: 30_000, log: new ErrorLog(() => {}) })
      return 'started'
    } catch (error) {
      return (error as Error).message
    }
  },
  provider: async () => {
    const harness = await createHarness()
    const agent = harness.agent({ provider: 'other' })
    await harness.say(agent, 'hello')
    const end = agent.session.events.at(-1)
    await harness.dispose()
    return end?.type === 'turn/end' && end.data.reason.kind === 'error' ? end.data.reason.error.message : 'completed'
  },
  output: () => answerOf(() => {}, 'probe', silent),
  unknown: () => answerOf(() => {}, 'prob'),
  disposed: async () => {
    const harness = await createHarness()
    const agent = harness.agent({ id: 'a' })
    await agent.dispose()
    try {
      agent.followup(createUserMessage({ content: [text('hello')], source: { kind: 'user' } }))
      return 'sent'
    } catch (error) {
      return (error as Error).message
    } finally {
      await harness.dispose()
    }
  },
  taken: async () => {
    const harness = await createHarness()
    harness.agent({ id: 'a' })
    try {
      harness.ctx.agentLoop.create(SessionId('a'), { provider: 'scripted', model: 'any' })
      return 'made'
    } catch (error) {
      return (error as Error).message
    } finally {
      await harness.dispose()
    }
  },
}
