import { failureOf, type LlmFailure } from '@loopguard/llm'
import type { TurnEndReason } from '@loopguard/session'
import { carrierOf, layersOf } from '@loopguard/tools'
import { runStep, type StepHost } from './step.ts'

/** What a turn needs of its agent. */
export interface TurnHost extends StepHost {
  /** The cause to log when `signal` has aborted. */
  abortReason(): TurnEndReason
  /** Told once, before `turn/end`, of what ended the turn with `error`. */
  report(turn: number, step: number, error: unknown): void
  /** Told before the end of a turn that stops the driver is logged: a message sent from then on wakes it again. */
  stopping(): void
}

/**
 * One turn: steps until one ends it. Never rejects: whatever fails ends the turn with `error`, as far as the log takes it.
 * `stop` says that the driver must not start the next turn by itself.
 */
export async function runTurn(host: TurnHost, turn: number, signal: AbortSignal): Promise<'go' | 'stop'> {
  let step = 0
  let opened = false
  const end = (reason: TurnEndReason): 'go' | 'stop' => {
    const stops = reason.kind === 'error' || reason.kind === 'blocked'
    if (stops) host.stopping()
    if (opened) host.session.append('turn/end', { turn, reason })
    return stops ? 'stop' : 'go'
  }
  const fail = (thrown: unknown, failure: LlmFailure): 'go' | 'stop' => {
    // What throws under an aborted signal was cancelled.
    if (signal.aborted) return end(host.abortReason())
    host.report(turn, step, thrown)
    return end({ kind: 'error', error: failure })
  }
  try {
    host.session.append('turn/start', { turn })
    opened = true
    let cut = false
    for (;;) {
      step++
      const outcome = await runStep(host, { turn, step, signal })
      if (outcome.kind === 'rejected') return end({ kind: 'blocked' })
      if (outcome.kind === 'aborted') return end(host.abortReason())
      if (outcome.kind === 'failed') return fail(outcome.failure, outcome.failure)
      cut ||= outcome.cut
      if (!outcome.wantsToEnd || host.inbox.nextStep.length > 0) continue
      await askStopping(host, turn, signal)
      if (signal.aborted) return end(host.abortReason())
      if (host.inbox.nextStep.length === 0) return end({ kind: cut ? 'max-tokens' : 'completed' })
    }
  } catch (thrown) {
    try {
      return fail(thrown, failureOf(thrown, 'LOOP_FAILED'))
    } catch (again) {
      // The log takes no more.
      if (signal.aborted || again !== thrown) host.report(turn, step, again)
      return 'stop'
    }
  }
}

/** Every listener runs, in order, whatever those before it returned or threw. @throws what the first of them threw */
async function askStopping({ agent, bus }: TurnHost, turn: number, signal: AbortSignal): Promise<void> {
  const event = Object.freeze({ agent, turn, signal })
  const { listeners } = layersOf(bus, carrierOf(agent), 'agent/turn-stopping', [event])
  const failures: unknown[] = []
  for (const listener of listeners) {
    try {
      await listener(event)
    } catch (thrown) {
      failures.push(thrown)
    }
  }
  if (failures.length > 0) throw failures[0]
}
