import { aborted, abortedBeforeDispatch, withExtras } from './results.ts'
import { mergeContexts, NO_CONTEXTS, Sink } from './sink.ts'
import type { ToolExecutionResult } from './types.ts'

/** The dispatches of one call, one after the other. Each starts anew: of contexts and conclusion, those of the last one count. */
export class Attempts {
  private readonly sinks: Sink[] = []
  private closed = false

  /** Runs one, which must not reject, and must leave its result in the sink. */
  run(dispatch: (sink: Sink) => Promise<ToolExecutionResult>): Promise<ToolExecutionResult> {
    if (this.closed) return Promise.resolve(abortedBeforeDispatch())
    const sink = new Sink()
    this.sinks.push(sink)
    return dispatch(sink)
  }

  /** Starts no more, and takes no more from the one that runs. */
  close(): void {
    this.closed = true
    if (this.last === undefined) return
    this.last.open = false
    this.last.body.stop()
  }

  /** Whether this is the very result of one of them, and so well-formed and frozen. */
  made(result: unknown): result is ToolExecutionResult {
    return result !== undefined && this.sinks.some((sink) => sink.result === result)
  }

  /** What a success comes to when the caller has aborted meanwhile. What a wrapper added to it is kept. */
  aborted({ additionalContexts = NO_CONTEXTS }: ToolExecutionResult): ToolExecutionResult {
    const failure = this.bodyMs !== undefined ? aborted() : abortedBeforeDispatch()
    return withExtras(failure, additionalContexts, false)
  }

  /** Whole milliseconds that their bodies ran, all together; `undefined` when none was started. */
  get bodyMs(): number | undefined {
    const times = this.sinks.flatMap(({ body }) => body.ms ?? [])
    return times.length === 0 ? undefined : Math.round(times.reduce((sum, ms) => sum + ms))
  }

  get last(): Sink | undefined {
    return this.sinks.at(-1)
  }

  /**
   * What the stage came to, with the contexts and the conclusion that count. A wrapper may have made the result itself: that takes
   * nothing from the last attempt, keeps what the wrapper adds, and brings nothing of an earlier attempt back.
   *
   * @param always - whether each success of the tool concludes the turn, so that one made by a wrapper does, too.
   */
  settle(result: ToolExecutionResult, always: boolean): ToolExecutionResult {
    const earlier = this.sinks.slice(0, -1)
    const given = (result.additionalContexts ?? NO_CONTEXTS).filter(({ id }) => !earlier.some((sink) => sink.has(id)))
    const claimed = !result.isError && result.concludesTurn === true && !earlier.some((sink) => sink.concluded)
    const { contexts, concluded } = this.last ?? NOTHING
    return withExtras(result, mergeContexts(contexts, given), always || claimed || concluded)
  }
}

const NOTHING = { contexts: NO_CONTEXTS, concluded: false }
