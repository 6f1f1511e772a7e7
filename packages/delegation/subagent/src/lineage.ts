import type { Agent } from '@loopguard/agent-loop'
import type { SessionId } from '@loopguard/llm'
import type { SessionEvent } from '@loopguard/session'

/** The living agents, by id. */
export type FindAgent = (id: SessionId) => Agent | undefined

/** How deep an agent stands below its root, which has depth 0. From its log, so that it holds over a resume. */
export function depthOf(agent: Agent, find: FindAgent): number {
  const [, second] = agent.session.events
  if (second?.type === 'subagent/start') return second.data.depth
  const parent = parentIdOf(agent)
  if (parent === undefined) return 0
  // A child that some other plugin has made.
  const living = find(parent)
  return living === undefined ? 1 : depthOf(living, find) + 1
}

/** The agent at the top, as far up as agents live. */
export function rootOf(agent: Agent, find: FindAgent): Agent {
  const living = livingParentOf(agent, find)
  return living === undefined ? agent : rootOf(living, find)
}

/** The agent that an agent is the child of, as its log has it, while that lives. */
export function livingParentOf(agent: Agent, find: FindAgent): Agent | undefined {
  const parent = parentIdOf(agent)
  return parent === undefined ? undefined : find(parent)
}

/** How many children the tool has made below a root, those of former lives included. */
export function spawnedBelow(root: Agent): number {
  return root.session.events.reduce((count, { type }) => (type === 'subagent/spawn' ? count + 1 : count), 0)
}

function parentIdOf({ session }: Agent): SessionId | undefined {
  return (session.events[0] as SessionEvent<'session/start'>).data.parent
}
