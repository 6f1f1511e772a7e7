import type { UserMessage } from '@loopguard/llm'
import type { Session, SessionEvent } from '@loopguard/session'
import type {} from './types.ts'
import type { Goal } from './types.ts'

/** What a log says of goals. */
interface Folded {
  goal: Goal | undefined
  /** How many goals there were. */
  created: number
  /** Rounds, of whichever goal, since a user has said something. */
  sinceUser: number
  read: number
}

const known = new WeakMap<readonly SessionEvent[], Folded>()

/** The goal that was created last, as the log has it. */
export function goalOf(session: Pick<Session, 'events'>): Goal | undefined {
  return folded(session).goal
}

/** The id of the next goal. */
export function nextGoalId(session: Pick<Session, 'events'>): string {
  return `goal-${folded(session).created + 1}`
}

/** How many rounds may follow, of a goal that may have `maxRounds` of which `rounds` are used. */
export function roundsLeft(session: Pick<Session, 'events'>, goal: Pick<Goal, 'maxRounds' | 'rounds'>, ceiling: number): number {
  return Math.min(goal.maxRounds - goal.rounds, ceiling - goal.rounds, ceiling - folded(session).sinceUser)
}

/** Of which goal a message is a round. */
export function roundOf({ source }: UserMessage): { readonly goalId: string; readonly round: number } | undefined {
  return source.kind === 'goal' ? source : undefined
}

/** Only what is new is read. */
function folded({ events }: Pick<Session, 'events'>): Folded {
  let state = known.get(events)
  if (state === undefined) known.set(events, (state = { goal: undefined, created: 0, sinceUser: 0, read: 0 }))
  for (; state.read < events.length; state.read++) fold(state, events[state.read] as SessionEvent)
  return state
}

function fold(state: Folded, event: SessionEvent): void {
  const { goal } = state
  switch (event.type) {
    case 'goal/create':
      state.created++
      state.goal = { ...event.data, phase: 'active', rounds: 0 }
      return
    case 'goal/update': {
      const { id, phase, reason } = event.data
      if (goal?.id !== id) return
      const { reason: _former, ...rest } = goal
      state.goal = { ...rest, phase, ...(reason !== undefined && { reason }) }
      return
    }
    case 'user/message': {
      if (event.data.source.kind === 'user') state.sinceUser = 0
      const round = roundOf(event.data)
      if (round === undefined) return
      state.sinceUser++
      if (goal?.id === round.goalId) state.goal = { ...goal, rounds: goal.rounds + 1 }
      return
    }
    default:
  }
}
