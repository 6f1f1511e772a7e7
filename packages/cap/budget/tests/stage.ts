import type { Fiber } from '@deepseek-ai/cordis'
import type { Agent } from '@loopguard/agent-loop'
import * as budget from '@loopguard/budget'
import * as budgetInvariant from '@loopguard/budget/invariant'
import { SessionId } from '@loopguard/llm'
import type { Session, SessionEvent } from '@loopguard/session'
import {
  createHarness,
  type Gate,
  type Harness,
  type HarnessAgentOptions,
  type HarnessOptions,
  type ScriptedAnswer,
} from '@loopguard/testkit'
import type { ToolDefinition } from '@loopguard/tools'
import { onTestFinished } from 'vitest'

/** One call of `look`; calls with other words are other calls. */
export const looks = (word = 'a', more: Partial<ScriptedAnswer> = {}): ScriptedAnswer => ({
  calls: [{ name: 'look', arguments: { word } }],
  ...more,
})

/** A model that never stops, and never makes the same call twice in a row. */
export const restless = (more: Partial<ScriptedAnswer> = {}): (() => ScriptedAnswer) => {
  let count = 0
  return () => looks(`${++count}`, more)
}

/** Of which each answer is another call, for ever. */
export const forEver = (answer: () => ScriptedAnswer): (() => ScriptedAnswer)[] => Array.from({ length: 500 }, () => answer)

export const tool = (name: string, more: Partial<ToolDefinition> = {}): ToolDefinition => ({
  name,
  description: `Does ${name}.`,
  parameters: {},
  execute: () => `${name} is done`,
  ...more,
})

/** Waits for the abort, and says that it has begun. */
export const hanging = (begun: Gate, name = 'wait'): ToolDefinition =>
  tool(name, {
    execute: (_args, { signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
        begun.open()
      }),
  })

export interface StageOptions extends HarnessOptions {
  /** The agent goes on with its log. */
  readonly resume?: boolean
}

/** Of functions that can be taken off it. */
export interface Stage extends Pick<Harness, 'ctx' | 'model' | 'log'> {
  readonly say: (agent: Agent, words: string) => Promise<void>
  readonly agent: (options?: HarnessAgentOptions) => Agent
  readonly agent1: Agent
  readonly fiber: Fiber
  /** Unloads the cap. */
  readonly unload: () => Promise<void>
}

/** A host under a cap, with the tool `look`. All companions watch, that of the cap too, and the disposal fails if a contract was broken. */
export async function stage(
  config: budget.Config,
  { tools = [], plugins = [], resume = false, ...options }: StageOptions = {},
): Promise<Stage> {
  const harness = await createHarness({ ...options, tools: [tool('look'), ...tools], plugins: [budgetInvariant, ...plugins] })
  onTestFinished(() => harness.dispose())
  const loaded = harness.ctx.plugin(budget, config)
  await loaded
  const { fiber } = loaded.ctx
  const restored = (): Promise<Agent> => harness.ctx.agentLoop.resume(SessionId('agent-1'), { provider: 'scripted', model: 'scripted' })
  return { ...harness, agent1: resume ? await restored() : harness.agent(), fiber, unload: () => fiber.dispose() }
}

/** What was reached, in order: `turn.step limit value`. */
export function reached({ session }: { readonly session: Pick<Session, 'events'> }): string[] {
  return session.events.flatMap(({ type, data }) =>
    type === 'budget/reached' ? [`${data.turn}.${data.step} ${data.limit} ${data.value}`] : [],
  )
}

/** How the turns ended. */
export function ends({ session }: { readonly session: Pick<Session, 'events'> }): string[] {
  return session.events.flatMap(({ type, data }) => {
    if (type !== 'turn/end') return []
    const { reason } = data
    if (reason.kind === 'aborted') return [`aborted ${JSON.stringify(reason.reason)}`]
    return [reason.kind === 'error' ? `error ${reason.error.code}: ${reason.error.message}` : reason.kind]
  })
}

/** What the model read of its calls, each its text or the code of its failure. */
export function results({ session }: { readonly session: Pick<Session, 'events'> }): string[] {
  return session.events.flatMap(({ type, data }) => {
    if (type !== 'tool/result') return []
    const said = data.message.content[0].content.map((block) => (block.type === 'text' ? block.text : block.type)).join()
    return [data.error === undefined ? said : `${data.error.code} ${said}`]
  })
}

export const denial = (what: string): string => `DENIED Error: limit reached: ${what}`

export function countOf({ session }: { readonly session: Pick<Session, 'events'> }, type: SessionEvent['type']): number {
  return session.events.filter((event) => event.type === type).length
}
