import type { Session } from '@loopguard/session'
import type { ToolAgent, ToolDefinition } from '@loopguard/tools'
import { badGoal, goalExists, roundLimit } from './failures.ts'
import { goalOf, nextGoalId, roundsLeft } from './goal-log.ts'
import type { Goal, GoalPhase } from './types.ts'

const NOTHING = '(no goal)'

interface CreateArguments {
  readonly objective: string
  readonly maxRounds?: number
}

/** Sets a goal and arms it. */
export function createGoal(ceiling: number): ToolDefinition<CreateArguments> {
  return {
    name: 'create_goal',
    description:
      'Sets a goal that takes more than one turn. Whenever you stop, you get another round to work on it, until you say with update_goal ' +
      `that it is complete or blocked, or the rounds are used up (${ceiling} at most). One goal at a time.`,
    parameters: {
      type: 'object',
      properties: {
        objective: { type: 'string', pattern: '\\S', description: 'What is to be achieved, and how one sees that it is.' },
        maxRounds: { type: 'integer', minimum: 1, description: `How many rounds it may take. Default ${ceiling}.` },
      },
      required: ['objective'],
      additionalProperties: false,
    },
    execute({ objective, maxRounds = ceiling }, { agent }) {
      const session = sessionOf(agent)
      if (maxRounds > ceiling) throw badGoal(`maxRounds must be an integer from 1 to ${ceiling}, got ${maxRounds}`)
      const former = goalOf(session)
      if (former?.phase === 'active' || former?.phase === 'paused') throw goalExists(former)
      if (roundsLeft(session, { maxRounds, rounds: 0 }, ceiling) < 1) throw roundLimit(ceiling)
      session.append('goal/create', { id: nextGoalId(session), objective: objective.trim(), maxRounds })
      return shown(goalOf(session))
    },
  }
}

/** Shows the goal. */
export const getGoal: ToolDefinition = {
  name: 'get_goal',
  description: 'Returns your goal, its phase, and how many rounds it has had.',
  parameters: { type: 'object', properties: {}, additionalProperties: false },
  execute: (_args, { agent }) => shown(goalOf(sessionOf(agent))),
}

interface UpdateArguments {
  readonly phase: GoalPhase
  readonly reason?: string
}

/** Changes the phase of the goal. */
export function updateGoal(ceiling: number): ToolDefinition<UpdateArguments> {
  return {
    name: 'update_goal',
    description:
      'Changes the phase of your goal: complete when it is achieved and you have checked that, blocked when you cannot go on without help, ' +
      'paused to stop for now, active to go on in rounds.',
    parameters: {
      type: 'object',
      properties: {
        phase: { type: 'string', enum: ['active', 'paused', 'blocked', 'complete'] },
        reason: { type: 'string', description: 'Why, in a sentence.' },
      },
      required: ['phase'],
      additionalProperties: false,
    },
    execute({ phase, reason }, { agent }) {
      const session = sessionOf(agent)
      const goal = goalOf(session)
      if (goal === undefined) throw badGoal('there is no goal: create_goal sets one')
      if (goal.phase === 'complete') throw badGoal(`${goal.id} is complete, and stays so: create_goal sets another one`)
      if (phase === 'active' && roundsLeft(session, goal, ceiling) < 1) throw roundLimit(Math.min(goal.maxRounds, ceiling))
      session.append('goal/update', { id: goal.id, phase, ...(reason !== undefined && { reason }) })
      return shown(goalOf(session))
    },
  }
}

function shown(goal: Goal | undefined): string {
  return goal === undefined ? NOTHING : JSON.stringify(goal)
}

/** An agent of the loop has a session; the pipeline does not ask for one. */
function sessionOf(agent: (ToolAgent & { readonly session?: Session }) | undefined): Session {
  if (agent?.session !== undefined) return agent.session
  throw badGoal('a goal needs an agent with a session: it is kept in its log')
}
