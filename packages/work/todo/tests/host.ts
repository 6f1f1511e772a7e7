import { createHarness, type Harness, type HarnessOptions } from '@loopguard/testkit'
import * as todo from '@loopguard/todo'
import * as todoInvariant from '@loopguard/todo/invariant'
import type { Agent } from '@loopguard/agent-loop'
import { onTestFinished } from 'vitest'

export const item = (content: string, status: string = 'pending'): { content: string; status: string } => ({ content, status })

export interface Stage {
  readonly harness: Harness
  readonly agent: Agent
  /** Has the model write these lists, a step each, and gives back what it reads of each. */
  readonly write: (...lists: unknown[]) => Promise<string[]>
}

/** An agent that has `todo_write`; the companions watch, and the disposal fails when a contract was broken. */
export async function stage({ config = {}, ...options }: HarnessOptions & { config?: object } = {}): Promise<Stage> {
  const harness = await createHarness({ ...options, plugins: [[todo, config], todoInvariant, ...(options.plugins ?? [])] })
  onTestFinished(() => harness.dispose())
  const agent = harness.agent()
  return {
    harness,
    agent,
    write: async (...lists) => {
      const from = agent.session.events.length
      harness.model.push(...lists.map((list) => ({ calls: [{ name: 'todo_write', arguments: list }] })), { text: 'done' })
      await harness.say(agent, 'go')
      return readBy(agent, from)
    },
  }
}

/** The texts of the results in the log. */
export function readBy({ session }: Agent, from = 0): string[] {
  return session.events
    .slice(from)
    .flatMap((event) => (event.type === 'tool/result' ? event.data.message.content : []))
    .map(({ content }) => content.map((block) => (block.type === 'text' ? block.text : block.type)).join('\n'))
}
