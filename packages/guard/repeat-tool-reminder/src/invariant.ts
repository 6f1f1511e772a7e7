import { companion, type Companion, onDispatch } from '@loopguard/invariants/companion'
import type { PreStepEvent } from '@loopguard/agent-loop'
import type { UserMessage } from '@loopguard/llm'
import type { ToolExecution, ToolExecutionResult } from '@loopguard/tools'
import { type Guard, GUARD, Guards } from './guards.ts'
import { type Held, HeldUp } from './held-up.ts'
import { type GuardConfig, RecountingModel } from './recount.ts'
import { StepLog } from './step-log.ts'

/** What the recount says of a call whose post-execute stage runs or has run. */
interface Expectation extends Held {
  readonly outcome: ToolExecutionResult
  readonly models: readonly RecountingModel[]
  /** `undefined`: there is nothing to compare with. */
  readonly due: boolean | undefined
  readonly isExposed: boolean
  /** How often the call has come through to the inside of the guard. */
  passes: number
}

/** A message of the user on its way to the guard, which some listener outside of it may keep or hold up. */
interface Reset extends Held {
  readonly models: readonly RecountingModel[]
}

const plugin: Companion = companion({
  name: 'repeat-tool-reminder-invariant',
  packageName: '@loopguard/repeat-tool-reminder',
  install(ctx, fail) {
    const guards = new Guards(ctx)
    const models = new WeakMap<object, RecountingModel>()
    const created = new WeakSet<object>()
    const expectations = new WeakMap<WeakKey, Expectation>()
    /** For the listener of the result: a throw at its dispatch would keep it from all others. */
    const complaints = new WeakMap<WeakKey, string>()
    const heldUp = new HeldUp()
    const resets = new WeakMap<PreStepEvent, Reset>()
    /** Of the steps that are open, by session. */
    const steps = new Map<string, StepLog>()

    const modelOf = (guard: Guard): RecountingModel | undefined => {
      const known = models.get(guard.activation)
      const config: unknown = guard.fiber.config
      if (known !== undefined || !isConfig(config)) return known
      const isFresh = guards.isFresh(guard)
      const model = new RecountingModel(config, (agent) => isFresh || created.has(agent))
      models.set(guard.activation, model)
      return model
    }
    const recount = (exec: ToolExecution, outcome: ToolExecutionResult, carrier: unknown): void => {
      const heard = guards.of('tools/post-execute', carrier)
      if (heard.length === 0) return
      const counted = heard.flatMap((guard) => modelOf(guard) ?? [])
      const [due, ...others] = counted.map((model) => model.count(exec))
      const isExposed = heard.some((guard) => guard.isExposed)
      const expectation: Expectation = {
        kind: 'call',
        isOvertaken: false,
        outcome,
        models: counted,
        due: others.length === 0 ? due : undefined,
        isExposed,
        passes: 0,
      }
      expectations.set(keyOf(exec), expectation)
      if (isObject(exec.agent)) heldUp.begin(exec.agent, expectation, isExposed)
    }
    const startAfresh = (event: PreStepEvent, carrier: unknown): void => {
      if (!event.messages.some((message: UserMessage | undefined) => message?.source?.kind === 'user')) return
      const exposed: RecountingModel[] = []
      for (const guard of guards.of('agent/pre-step', carrier)) {
        const model = modelOf(guard)
        if (model === undefined) continue
        if (guard.isExposed) exposed.push(model)
        else model.reset(event.agent)
      }
      for (const model of exposed) model.doubt(event.agent)
      const reset: Reset = { kind: 'reset', isOvertaken: false, models: exposed }
      resets.set(event, reset)
      heldUp.begin(event.agent, reset, exposed.length > 0)
    }

    const compare = (exec: ToolExecution, result: ToolExecutionResult): void => {
      const reminders = result.additionalContexts?.filter(isReminder) ?? []
      if (exec.agent !== undefined) {
        steps.get(exec.agent.id)?.show(
          exec,
          reminders.map(({ id }) => id),
        )
      }
      const expectation = expectations.get(keyOf(exec))
      expectations.delete(keyOf(exec))
      if (expectation !== undefined && isObject(exec.agent)) heldUp.end(exec.agent, expectation)
      const expected = expectation === undefined ? undefined : expectedOf(expectation, exec, result)
      if (expected !== undefined && reminders.length !== expected)
        complaints.set(keyOf(exec), `shows ${reminders.length} reminders, the recount expects ${expected}`)
    }

    // At the dispatch, where each call comes by once, whatever the listeners do with it.
    onDispatch(ctx, {
      'tools/post-execute'([exec, outcome], carrier) {
        if (isObject(exec) && isObject(outcome)) recount(exec as ToolExecution, outcome as ToolExecutionResult, carrier)
      },
      'tools/result'([exec, result]) {
        if (isObject(exec) && isObject(result)) compare(exec as ToolExecution, result as ToolExecutionResult)
      },
      'agent/pre-step'([event], carrier) {
        if (isObject(event) && Array.isArray((event as PreStepEvent).messages)) startAfresh(event as PreStepEvent, carrier)
      },
    })
    // On the inside of the guard: what comes through to here has passed it.
    ctx.on('tools/post-execute', (exec, _outcome, next) => {
      const expectation = expectations.get(keyOf(exec))
      if (expectation !== undefined) expectation.passes++
      return next()
    })
    ctx.on('agent/pre-step', (event, next) => {
      const reset = resets.get(event)
      if (reset === undefined) return next()
      for (const model of reset.models) {
        if (reset.isOvertaken) model.doubt(event.agent)
        else model.reset(event.agent)
      }
      return next()
    })

    ctx.on('tools/result', (exec) => {
      const complaint = complaints.get(keyOf(exec))
      complaints.delete(keyOf(exec))
      if (complaint !== undefined) fail(`call "${exec.callId}" of tool "${exec.name}" ${complaint}`)
    })
    ctx.on('session/event', ({ id }, event) => {
      if (event.type === 'step/start') steps.set(id, new StepLog())
      const complaint = steps.get(id)?.next(event, isReminder)
      if (event.type === 'step/end') steps.delete(id)
      if (complaint !== undefined) fail(`session "${id}": ${complaint}`)
    })
    ctx.on('agent/created', ({ agent }) => void created.add(agent))
    ctx.on('agent/disposed', ({ agent }) => void steps.delete(agent.id))
  },
})

export const name: string = plugin.name
export const inject: string[] = plugin.inject
/** Recounts the calls of each agent with a model of its own, and checks that each reminder comes when it is due and stands in the log. */
export const apply: Companion['apply'] = plugin.apply

/** How many reminders a result must show; `undefined` when that cannot be said. */
function expectedOf(expectation: Expectation, { agent }: ToolExecution, result: ToolExecutionResult): number | undefined {
  const { outcome, models, due, isExposed, passes, isOvertaken } = expectation
  const hasFailed = failedInReview(outcome, result)
  if (agent !== undefined && (isOvertaken || (passes !== 1 && (isExposed || hasFailed)))) {
    // Whether the guard has counted this call, and after which, is anybody's guess.
    for (const model of models) model.doubt(agent)
    return undefined
  }
  if (due === undefined || hasFailed) return undefined
  const concludes = !outcome.isError && outcome.concludesTurn === true
  if (!due || !concludes) return due ? 1 : 0
  // No request follows, unless the guard has seen the result blocked; those outside of it may have changed the decision since.
  return isExposed ? undefined : isBlocked(result) ? 1 : 0
}

/** A listener that failed in post-execute fails the call, and what others had added goes with it. */
function failedInReview(outcome: ToolExecutionResult, result: ToolExecutionResult): boolean {
  if (!result.isError || isBlocked(result)) return false
  return !outcome.isError || outcome.error.message !== result.error.message
}

function isBlocked(result: ToolExecutionResult): boolean {
  return result.isError && result.error.info?.code === 'BLOCKED'
}

function isReminder({ source }: UserMessage): boolean {
  return source.kind === 'plugin' && source.plugin === GUARD
}

/** Another host may send something else under the names of these events. */
function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** A call goes by its token: some hosts show different objects at different stages. */
function keyOf(exec: ToolExecution): WeakKey {
  return (exec as Partial<ToolExecution>).token ?? exec
}

/** Another plugin of that name may have other rules. */
function isConfig(config: unknown): config is GuardConfig {
  const { thresholds, include, exclude } = Object(config) as Partial<GuardConfig>
  return Array.isArray(thresholds) && Array.isArray(include) && Array.isArray(exclude)
}
