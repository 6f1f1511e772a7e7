import type { Agent } from '@loopguard/agent-loop'
import * as goal from '@loopguard/goal'
import { CallId, type Message } from '@loopguard/llm'
import type { Session } from '@loopguard/session'
import { createHarness, type Harness, type HarnessOptions } from '@loopguard/testkit'
import type { ToolExecutionResult } from '@loopguard/tools'
import { onTestFinished } from 'vitest'

export interface StageOptions extends HarnessOptions {
  readonly config?: Partial<goal.Config>
}

/** A host with goals; the companions watch, and the disposal fails when a contract was broken. */
export async function stage({ config, plugins = [], ...options }: StageOptions = {}): Promise<Harness> {
  const harness = await createHarness({ ...options, plugins: [[goal, config], ...plugins] })
  onTestFinished(() => harness.dispose())
  return harness
}

export const creates = (objective = 'tidy up', more: object = {}) => ({
  calls: [{ name: 'create_goal', arguments: { objective, ...more } }],
})
export const updates = (phase: string, more: object = {}) => ({ calls: [{ name: 'update_goal', arguments: { phase, ...more } }] })
export const stops = (repeat = Infinity) => ({ text: 'I stop here.', repeat })

const wordsOf = (content: Message['content']): string =>
  content.map((block) => (block.type === 'text' ? block.text : block.type)).join('\n')

/** What the log says of users, goals and turns, in a line each. */
export function story({ session }: { readonly session: Pick<Session, 'events'> }): string[] {
  return session.events.flatMap(({ type, data }) => {
    switch (type) {
      case 'user/message':
        return [
          `${data.source.kind === 'goal' ? `${data.source.goalId} #${data.source.round}` : data.source.kind}: ${wordsOf(data.content)}`,
        ]
      case 'goal/create':
        return [`${data.id} is created, ${data.maxRounds} rounds`]
      case 'goal/update':
        return [`${data.id} is ${data.phase}${data.reason === undefined ? '' : `: ${data.reason}`}`]
      case 'turn/end':
        return data.reason.kind === 'completed' ? [] : [`ended ${data.reason.kind}`]
      default:
        return []
    }
  })
}

export const rounds = (agent: { readonly session: Pick<Session, 'events'> }): number =>
  agent.session.events.filter(({ type, data }) => type === 'user/message' && data.source.kind === 'goal').length

/** The results in a log, as the model reads them. */
export function results({ session }: Agent): string[] {
  return session.events.flatMap(({ type, data }) => (type === 'tool/result' ? [wordsOf(data.message.content[0].content)] : []))
}

let direct = 0

/** One call of a tool that does not come from the loop. */
export function call({ ctx }: Harness, name: string, args: object, agent?: Agent): Promise<ToolExecutionResult> {
  const { signal } = new AbortController()
  return ctx.tools.execute({ callId: CallId(`direct-${++direct}`), name, arguments: args, signal, ...(agent !== undefined && { agent }) })
}

export const textOf = ({ content }: ToolExecutionResult): string => wordsOf(content)
