import { codeOf } from '@loopguard/kit'
import { failureOf, type LlmFailure } from '@loopguard/llm'
import type { TurnEndReason } from '@loopguard/session'
import { carrierOf, layersOf } from '@loopguard/tools'
import { barrier } from './barrier.ts'
import { type GivingUpParts, tellGivenUp } from './giving-up.ts'
import type { Patience } from './patience.ts'
import type { StepPlace } from './step-place.ts'
import { runStep, type StepParts } from './step.ts'

/** What a turn needs of its agent. */
export interface TurnParts extends StepParts, GivingUpParts {
  /** The cause to log when `signal` has aborted. */
  abortReason(): TurnEndReason
  /** Told of what ended the turn with `error`, before `turn/end`, and of what the log refused. */
  report(turn: number, step: number, error: unknown): void
  /** Told when the driver is to stop, before anybody else hears of it: a message sent from then on wakes it again. */
  stopping(): void
}

/** Whether the driver may start the next turn by itself. */
type Next = 'go' | 'stop'

const COMPLETED: TurnEndReason = Object.freeze({ kind: 'completed' })

/**
 * One turn: steps until one ends it. Never rejects: a failure ends the turn with `error`, if the log takes it.
 * `stop` says that the driver must not start the next turn by itself.
 */
export async function runTurn(parts: TurnParts, turn: number, signal: AbortSignal, patience: Patience): Promise<Next> {
  return new Turn(parts, turn, signal, patience).run()
}

class Turn {
  private readonly parts: TurnParts
  private readonly turn: number
  private readonly signal: AbortSignal
  private readonly patience: Patience
  private step = 0
  private opened = false
  /** Some step was cut by the token limit. */
  private cut = false
  private reported: { readonly error: unknown } | undefined

  constructor(parts: TurnParts, turn: number, signal: AbortSignal, patience: Patience) {
    this.parts = parts
    this.turn = turn
    this.signal = signal
    this.patience = patience
  }

  async run(): Promise<Next> {
    try {
      this.parts.session.append('turn/start', { turn: this.turn })
      this.opened = true
      const ended = this.end(await this.steps())
      return ended instanceof Promise ? await ended : ended
    } catch (thrown) {
      return this.fail(thrown)
    }
  }

  private async steps(): Promise<TurnEndReason> {
    const { parts, signal } = this
    let owesResults = false
    let asked = false
    for (;;) {
      const outcome = await runStep(parts, this.next(), owesResults)
      if (outcome.kind === 'rejected') return this.blocked()
      if (outcome.kind === 'aborted') return parts.abortReason()
      if (outcome.kind === 'failed') return this.errorReason(outcome.failure, outcome.failure)
      if (outcome.kind === 'nothing') {
        this.step--
        // What was sent meanwhile has a turn of its own when this one has done nothing, and so has nothing to go on with.
        if (this.step === 0) return COMPLETED
      } else {
        this.cut ||= outcome.cut
        owesResults = !outcome.wantsToEnd
        asked = false
      }
      if (owesResults || parts.inbox.nextStep.length > 0) continue
      if (!asked) await askStopping(parts, this.place())
      asked = true
      if (signal.aborted) return parts.abortReason()
      if (parts.inbox.nextStep.length === 0) return this.cut ? { kind: 'max-tokens' } : COMPLETED
    }
  }

  private next(): StepPlace {
    this.step++
    return this.place()
  }

  private place(): StepPlace {
    const { turn, step, signal, patience } = this
    return { turn, step, signal, patience }
  }

  /** Between two barriers: a turn does not end as completed on what may be lost, and its end is durable before the agent is idle. */
  private end(reason: TurnEndReason): Promise<Next> | Next {
    const before = this.opened ? barrier(this.parts.session, this.signal) : undefined
    return before === undefined ? this.close(reason) : before.then(() => this.close(reason))
  }

  private close(reason: TurnEndReason): Promise<Next> | Next {
    const { session } = this.parts
    if (this.opened) session.append('turn/end', { turn: this.turn, reason })
    const next = reason.kind === 'error' || reason.kind === 'blocked' ? 'stop' : 'go'
    const after = this.opened ? barrier(session, this.signal) : undefined
    return after === undefined ? next : after.then(() => next)
  }

  private fail(thrown: unknown): Promise<Next> | Next {
    const { parts, signal } = this
    try {
      // What throws under an aborted signal was cancelled.
      const ended = this.end(signal.aborted ? parts.abortReason() : this.errorReason(thrown, failureOf(thrown, 'LOOP_FAILED')))
      return ended instanceof Promise ? ended.catch((refused: unknown) => this.unwritten(refused)) : ended
    } catch (refused) {
      return this.unwritten(refused)
    }
  }

  /** The log takes no more, and cannot say so itself. */
  private unwritten(refused: unknown): Next {
    if (this.reported === undefined || codeOf(this.reported.error) !== codeOf(refused)) this.report(refused)
    return 'stop'
  }

  private blocked(): TurnEndReason {
    this.parts.stopping()
    return { kind: 'blocked' }
  }

  private errorReason(thrown: unknown, error: LlmFailure): TurnEndReason {
    // First, so that a message sent on hearing of the error wakes the driver.
    this.parts.stopping()
    this.report(thrown)
    return { kind: 'error', error }
  }

  private report(error: unknown): void {
    this.reported = { error }
    this.parts.report(this.turn, this.step, error)
  }
}

/** Every listener runs, in order, also after one that threw. @throws what the first of them threw */
async function askStopping(parts: TurnParts, place: StepPlace): Promise<void> {
  const { agent, bus } = parts
  const { turn, signal, patience } = place
  const event = Object.freeze({ agent, turn, signal })
  const { listeners } = layersOf(bus, carrierOf(agent), 'agent/turn-stopping', [event])
  const failures: unknown[] = []
  for (const listener of listeners) {
    try {
      const heard = Promise.resolve(listener(event))
      const gaveUp = (afterMs: number): void => tellGivenUp(parts, place, 'a listener of agent/turn-stopping', afterMs, heard)
      await patience.within(heard, gaveUp)
      if (patience.isOver) return
    } catch (thrown) {
      failures.push(thrown)
    }
  }
  if (failures.length > 0) throw failures[0]
}
