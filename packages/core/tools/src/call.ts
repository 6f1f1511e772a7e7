import { emitContained } from '@loopguard/cordis-internals'
import { messageOf, show } from '@loopguard/kit'
import { Attempts } from './attempts.ts'
import { isRecord } from './content.ts'
import { dispatchOnce } from './dispatch.ts'
import { closeSignal, Execution, restoreSignal, setOpen } from './execution.ts'
import { judge } from './gate.ts'
import type { Pipeline, LiveCall } from './pipeline.ts'
import { argumentsOf, assertCall } from './input.ts'
import { type Layers, layersOf, onion } from './onion.ts'
import { review } from './review.ts'
import { abortedBeforeDispatch, givenUp, invalidArguments, resultOf, thrownFailure, withExtras } from './results.ts'
import { carrierOf } from './scope.ts'
import { mergeContexts, NO_CONTEXTS, Sink } from './sink.ts'
import type { ToolExecutionInput, ToolExecutionResult } from './types.ts'

/** One call on its way through the pipeline: prepare, dispatch, finish, in that order. None of them rejects. */
export class Call implements LiveCall {
  readonly exec: Execution
  private readonly pipeline: Pipeline
  private readonly caller: AbortSignal
  private readonly carrier: object
  private readonly attempts = new Attempts()
  private readonly notJson: string | undefined
  /** Of the call that encloses this one. */
  private readonly enclosing: Sink | undefined
  /** For calls that listeners make while no attempt runs. */
  private own: Sink | undefined
  private outcome: ToolExecutionResult | undefined
  private unreviewed = false
  private dispatching: Promise<void> | undefined
  /** Settles `dispatching` for who waits for a call that is given up on. */
  private release: (() => void) | undefined
  private late: Promise<ToolExecutionResult> | undefined
  private finishing: Promise<ToolExecutionResult> | undefined

  /** @throws HarnessError `BAD_CALL` for what is no call at all: that is a fault of the caller's code, not of the call. */
  constructor(pipeline: Pipeline, input: ToolExecutionInput) {
    assertCall(input)
    const { args, notJson } = argumentsOf(input.arguments)
    this.pipeline = pipeline
    this.exec = new Execution(input, args)
    this.caller = this.exec.signal
    this.carrier = carrierOf(this.exec.agent)
    this.notJson = notJson
    this.enclosing = sinkOf(pipeline, this.exec.parent)
    pipeline.live.add(this)
  }

  /** Where a call that names this one as its parent leaves its contexts and its conclusion. */
  get sink(): Sink {
    const { last } = this.attempts
    return last?.open === true ? last : (this.own ??= new Sink())
  }

  get bodyMs(): number | undefined {
    return this.attempts.bodyMs
  }

  /** `undefined` when there is nothing to wait for. */
  prepare(): Promise<void> | undefined {
    if (this.caller.aborted) {
      this.unreviewed = true
      this.outcome = abortedBeforeDispatch()
    } else if (this.notJson !== undefined) {
      this.outcome = invalidArguments(this.notJson)
    } else {
      const judged = judge(this.pipeline, this.exec, this.carrier)
      if (judged instanceof Promise) {
        return judged.then((failure) => {
          this.outcome = failure
        })
      }
      this.outcome = judged
    }
    return undefined
  }

  dispatch(): Promise<void> {
    return (this.dispatching ??= new Promise((resolve) => {
      this.release = resolve
      void this.runDispatch().then(resolve)
    }))
  }

  abandon(): Promise<ToolExecutionResult> | undefined {
    const { late } = this
    if (late === undefined || this.outcome !== undefined) return undefined
    for (const call of this.pipeline.live) if (call.exec.parent === this.exec.token) void call.abandon()
    this.attempts.close()
    closeSignal(this.exec)
    this.outcome = this.attempts.settle(givenUp(), false)
    this.release?.()
    return late
  }

  /** Waits for a dispatch that runs. A call that was never dispatched counts as aborted. */
  finish(): Promise<ToolExecutionResult> {
    return (this.finishing ??= this.runFinish())
  }

  private async runDispatch(): Promise<void> {
    if (this.outcome !== undefined || this.finishing !== undefined) return
    if (this.caller.aborted) {
      this.outcome = abortedBeforeDispatch()
      return
    }
    this.pipeline.registry.find(this.exec.name, this.exec.agent)?.prepare()
    this.late = this.executeStage()
    const result = await this.late
    this.outcome ??= result
  }

  private async executeStage(): Promise<ToolExecutionResult> {
    const { pipeline, exec, caller, attempts } = this
    const args = [exec] as const
    let result: ToolExecutionResult
    try {
      const layers = layersOf(pipeline.bus, this.carrier, 'tools/execute', args)
      if (layers.listeners.length === 0) return await attempts.run((sink) => dispatchOnce(pipeline, exec, caller, sink))
      setOpen(exec, true)
      result = await this.around(args, layers)
      if (!result.isError && caller.aborted) result = attempts.aborted(result)
    } catch (thrown) {
      result = thrownFailure(thrown, caller)
    } finally {
      setOpen(exec, false)
    }
    return attempts.settle(result, pipeline.registry.find(exec.name, exec.agent)?.concludesTurn === true)
  }

  private around(args: readonly [Execution], layers: Layers): Promise<ToolExecutionResult> {
    const { pipeline, exec, caller, attempts } = this
    return onion<unknown, ToolExecutionResult>({
      event: 'tools/execute',
      args,
      center: () => attempts.run((sink) => dispatchOnce(pipeline, exec, caller, sink)),
      // What a wrapper puts in the signal's place and leaves there is not seen outside of it.
      enter() {
        const { signal } = exec
        return () => restoreSignal(exec, signal)
      },
      parse: (answer) => (attempts.made(answer) ? answer : parsed(answer)),
      ...layers,
    })
  }

  private async runFinish(): Promise<ToolExecutionResult> {
    const { pipeline, exec, carrier } = this
    if (this.dispatching !== undefined && this.outcome === undefined) await this.dispatching
    const outcome = this.outcome ?? abortedBeforeDispatch()
    const reviewed = this.unreviewed ? outcome : review(pipeline, exec, carrier, outcome)
    const result = this.withOwn(reviewed instanceof Promise ? await reviewed : reviewed)
    pipeline.live.delete(this)
    this.enclosing?.take(result)
    emitContained(pipeline.bus, carrier, 'tools/result', [exec, result])
    return result
  }

  private withOwn(result: ToolExecutionResult): ToolExecutionResult {
    const { own } = this
    if (own === undefined) return result
    own.open = false
    const concludes = own.concluded || (!result.isError && result.concludesTurn === true)
    return withExtras(result, mergeContexts(result.additionalContexts ?? NO_CONTEXTS, own.contexts), concludes)
  }
}

/** Of the live call with that token; an unknown token, or that of a call that has finished, encloses nothing. */
function sinkOf(pipeline: Pipeline, token: symbol | undefined): Sink | undefined {
  if (token === undefined) return undefined
  for (const call of pipeline.live) if (call.exec.token === token) return call.sink
  return undefined
}

function parsed(answer: unknown): ToolExecutionResult {
  if (!isRecord(answer)) throw new TypeError(`returned ${show(answer)}, not a result`)
  try {
    return resultOf(answer)
  } catch (thrown) {
    throw new TypeError(`gave a result that cannot be used: ${messageOf(thrown)}`)
  }
}
