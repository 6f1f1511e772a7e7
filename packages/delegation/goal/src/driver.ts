import type { Agent, PreStepDecision } from '@loopguard/agent-loop'
import { createUserMessage, text, type UserMessage } from '@loopguard/llm'
import type { SessionEvent } from '@loopguard/session'
import { goalOf, roundOf, roundsLeft } from './goal-log.ts'
import type { Goal } from './types.ts'

/** What a driver needs of its surroundings. */
export interface DriverHost {
  /** The most rounds of any goal. */
  readonly maxRounds: number
  /** Whether the plugin goes: then no more rounds are sent. */
  isGoing(): boolean
  /** Told of what an agent, or its log, did not take. */
  report(agent: Agent, error: unknown): void
}

/**
 * Sends one agent the rounds of its goal, each when the agent is idle. All that it knows of the goal stands in the log; it ends a goal's
 * activity whenever a turn has ended otherwise than well, so that nothing spins.
 */
export class Driver {
  private readonly agent: Agent
  private readonly host: DriverHost
  /** The round that was sent last, and what became of it: in the log, or not let in by us. */
  private sent: { readonly message: UserMessage; isIn: boolean; isOurs: boolean } | undefined

  constructor(agent: Agent, host: DriverHost) {
    this.agent = agent
    this.host = host
    const { nextTurn } = agent.inbox
    const message = nextTurn.find((queued) => roundOf(queued) !== undefined)
    if (message !== undefined) this.sent = { message, isIn: false, isOurs: false }
  }

  /** An active goal of a former life waits until it is armed again. */
  rest(why: 'resumed' | 'reloaded'): void {
    this.attempt(() => this.pause(why))
  }

  /** A microtask later: messages sent in the same tick go first, and `whenIdle()` still waits for the round. */
  consider(): void {
    queueMicrotask(() => this.attempt(() => this.next()))
  }

  logged({ type, data }: SessionEvent): void {
    switch (type) {
      case 'goal/create':
        this.consider()
        return
      case 'goal/update':
        if (data.phase === 'active') this.consider()
        return
      case 'user/message':
        if (data.id === this.sent?.message.id) this.sent.isIn = true
        return
      case 'inbox/removed':
        if (data.cause === 'discarded' && this.sent !== undefined && data.ids.includes(this.sent.message.id)) {
          this.sent = undefined
          this.attempt(() => this.pause('cancelled'))
        }
        return
      case 'turn/end':
        if (data.reason.kind !== 'completed' && data.reason.kind !== 'max-tokens') this.attempt(() => this.pause(data.reason.kind))
        return
      default:
    }
  }

  /** Keeps a round out that is not due any more, and one that a message of a user waits behind. */
  admit(decision: PreStepDecision): PreStepDecision {
    if (decision.kind !== 'enter') return decision
    const messages = decision.messages.filter((message) => this.isDue(message))
    return messages.length === decision.messages.length ? decision : { ...decision, messages }
  }

  private isDue(message: UserMessage): boolean {
    const round = roundOf(message)
    if (round === undefined) return true
    const { inbox, session } = this.agent
    const goal = goalOf(session)
    const isWaitedFor = inbox.nextTurn.some(({ source }) => source.kind === 'user')
    if (goal?.id === round.goalId && goal.phase === 'active' && !isWaitedFor) return true
    if (message.id === this.sent?.message.id) this.sent.isOurs = true
    return false
  }

  private next(): void {
    const { agent, host } = this
    const goal = goalOf(agent.session)
    if (host.isGoing() || agent.status !== 'idle' || goal?.phase !== 'active') return
    const { sent } = this
    if (sent !== undefined && !sent.isIn && !sent.isOurs) {
      // It still waits, or a listener kept it out: then the next one would not get in either.
      if (agent.inbox.nextTurn.some(({ id }) => id === sent.message.id)) agent.followup(sent.message)
      else this.pause('round-dropped')
      return
    }
    if (roundsLeft(agent.session, goal, host.maxRounds) < 1) this.update(goal, 'blocked', 'round-limit')
    else this.send(goal)
  }

  private send({ id: goalId, rounds, maxRounds }: Goal): void {
    const round = rounds + 1
    const content = [text(`Round ${round} of ${Math.min(maxRounds, this.host.maxRounds)}`)]
    const message = createUserMessage({ content, source: { kind: 'goal', goalId, round } })
    this.sent = { message, isIn: false, isOurs: false }
    this.agent.followup(message)
  }

  private pause(reason: string): void {
    const goal = goalOf(this.agent.session)
    if (goal?.phase === 'active') this.update(goal, 'paused', reason)
  }

  private update({ id }: Goal, phase: Goal['phase'], reason: string): void {
    this.agent.session.append('goal/update', { id, phase, reason })
  }

  private attempt(work: () => void): void {
    try {
      work()
    } catch (error) {
      this.host.report(this.agent, error)
    }
  }
}
