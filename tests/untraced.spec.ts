import { Context, type Plugin } from '@deepseek-ai/cordis'
import AgentLoop from '@loopguard/agent-loop'
import * as budget from '@loopguard/budget'
import { plain } from '@loopguard/cordis-internals'
import Llm from '@loopguard/llm'
import * as repeatToolReminder from '@loopguard/repeat-tool-reminder'
import * as repeatedFailureReminder from '@loopguard/repeated-failure-reminder'
import Sessions from '@loopguard/session'
import * as timeoutPolicy from '@loopguard/timeout-policy'
import ToolRuntime from '@loopguard/tools'
import { expect, it } from 'vitest'

interface Guard {
  readonly plugin: Plugin
  readonly config?: unknown
  readonly events: readonly string[]
}

const GUARDS: Readonly<Record<string, Guard>> = {
  'timeout-policy': { plugin: timeoutPolicy, events: ['tools/execute'] },
  'repeat-tool-reminder': { plugin: repeatToolReminder, events: ['tools/post-execute', 'agent/pre-step'] },
  'repeated-failure-reminder': { plugin: repeatedFailureReminder, events: ['tools/post-execute', 'agent/pre-step'] },
  budget: { plugin: budget, config: { maxStepsPerTurn: 3, maxEqualCalls: 3 }, events: ['agent/pre-step', 'tools/pre-execute'] },
}

it.each(Object.entries(GUARDS))('%s costs a call no tracing of what its listeners get', async (_name, { plugin, config, events }) => {
  const ctx = new Context()
  for (const service of [Sessions, Llm, ToolRuntime, AgentLoop]) await ctx.plugin(service as Plugin<unknown>, undefined)
  const untraced: string[] = []
  ctx.on('internal/listener', ((event: string, listener: object) => {
    // What arrives here is the wrapper of Cordis, behind which the guard's own function stands.
    if (plain(listener) !== listener && /^(?:tools|agent\/pre-step)/.test(event)) untraced.push(event)
  }) as never)
  await ctx.plugin(plugin as Plugin<unknown>, config)
  expect(untraced).toEqual(events)
  await ctx.fiber.dispose()
})
