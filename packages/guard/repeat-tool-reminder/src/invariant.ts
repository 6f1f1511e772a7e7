import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@loopguard/agent-loop'
import { companion, type Companion } from '@loopguard/invariants/companion'
import type { UserMessage } from '@loopguard/llm'
import type { SessionEvent } from '@loopguard/session'
import type { ToolExecution, ToolExecutionResult } from '@loopguard/tools'
import { type GuardConfig, RecountingModel } from './recount.ts'

const GUARD = 'repeat-tool-reminder'

/** What the model expects of a call whose post-execute stage runs or has run. */
interface Expectation {
  readonly due: boolean
  readonly outcome: ToolExecutionResult
  blocked: boolean
  failed: boolean
}

const plugin: Companion = companion({
  name: 'repeat-tool-reminder-invariant',
  packageName: '@loopguard/repeat-tool-reminder',
  install(ctx, fail) {
    const model = new RecountingModel()
    const expectations = new WeakMap<symbol, Expectation>()
    const logs = new Map<string, StepLog>()
    model.follow(guardOf(ctx), false)

    ctx.on('agent/created', ({ agent }) => model.know(agent))
    ctx.on('agent/disposed', ({ agent }) => void logs.delete(agent.id))
    ctx.on(
      'agent/pre-step',
      ({ agent, messages }, next) => {
        model.follow(guardOf(ctx), true)
        if (messages.some((message) => message.source.kind === 'user')) model.know(agent)
        return next()
      },
      { prepend: true },
    )
    ctx.on(
      'tools/post-execute',
      async (exec, outcome, next) => {
        model.follow(guardOf(ctx), true)
        const due = model.count(exec)
        if (due === undefined) return next()
        const expectation: Expectation = { due, outcome, blocked: false, failed: true }
        expectations.set(exec.token, expectation)
        const decision = await next()
        expectation.blocked = decision.kind === 'block'
        expectation.failed = false
        return decision
      },
      { prepend: true },
    )
    ctx.on('tools/result', (exec, result) => {
      const reminders = remindersOf(result)
      const expectation = expectations.get(exec.token)
      if (expectation !== undefined && !failedInReview(expectation, result)) {
        const concludes = !expectation.outcome.isError && expectation.outcome.concludesTurn === true
        const expected = expectation.due && (expectation.blocked || !concludes) ? 1 : 0
        if (reminders.length !== expected) {
          fail(`call "${exec.callId}" of tool "${exec.name}" shows ${reminders.length} reminders, the recount expects ${expected}`)
        }
      }
      if (exec.agent !== undefined) logs.get(exec.agent.id)?.expect(exec, reminders)
    })
    ctx.on('session/event', (session, event) => {
      let log = logs.get(session.id)
      if (log === undefined) logs.set(session.id, (log = new StepLog()))
      const complaint = log.next(event)
      if (complaint !== undefined) fail(`session "${session.id}": ${complaint}`)
    })
  },
})

export const name: string = plugin.name
export const inject: string[] = plugin.inject
/** Recounts the calls of each agent with a model of its own, and checks that each reminder comes when it is due and stands in the log. */
export const apply: Companion['apply'] = plugin.apply

/** The configuration of the one active guard; none when there is no guard, or more than one. A new object for each activation. */
function guardOf(ctx: Context): GuardConfig | undefined {
  const active = [...ctx.registry.values()]
    .filter((runtime) => runtime.name === GUARD)
    .flatMap((runtime) => [...runtime.fibers])
    .filter((fiber) => fiber.state === ACTIVE)
  return active.length === 1 ? (active[0]?.config as GuardConfig) : undefined
}

// Cordis' FiberState is a const enum, which does not exist at run time.
const ACTIVE = 2

function isReminder({ source }: UserMessage): boolean {
  return source.kind === 'plugin' && source.plugin === GUARD
}

function remindersOf({ additionalContexts }: ToolExecutionResult): readonly UserMessage[] {
  return additionalContexts?.filter(isReminder) ?? []
}

/** A listener that failed in post-execute fails the call, and what others had added goes with it. */
function failedInReview({ failed, outcome }: Expectation, result: ToolExecutionResult): boolean {
  if (failed) return true
  if (!result.isError || result.error.info?.code === 'BLOCKED') return false
  return !outcome.isError || outcome.error.message !== result.error.message
}

/** Which reminders the step that is open in a log still owes. */
class StepLog {
  private readonly unanswered = new Set<string>()
  private readonly called = new Set<string>()
  private readonly owed = new Set<string>()
  private agent: object | undefined

  /** Only calls that the loop has logged: whoever runs a call on their own account keeps its contexts. */
  expect({ callId, agent }: ToolExecution, reminders: readonly UserMessage[]): void {
    if (!this.called.has(callId)) return
    this.agent = agent
    for (const { id } of reminders) this.owed.add(id)
  }

  next(event: SessionEvent): string | undefined {
    switch (event.type) {
      case 'assistant/message':
        for (const block of event.data.message.content) if (block.type === 'tool-call') this.unanswered.add(block.id)
        return undefined
      case 'tool/call':
        this.called.add(event.data.callId)
        return undefined
      case 'tool/result':
        this.unanswered.delete(event.data.message.source.callId)
        return undefined
      case 'user/message':
        if (isReminder(event.data) && this.unanswered.size > 0)
          return `a reminder (event ${event.seq}) stands before the last result of its step`
        this.owed.delete(event.data.id)
        return undefined
      case 'step/end': {
        // Another harness may hand contexts to the inbox, from which the next step claims and logs them.
        for (const { id } of (this.agent as Partial<Agent> | undefined)?.inbox?.nextStep ?? []) this.owed.delete(id)
        const missing = this.owed.size
        for (const set of [this.unanswered, this.called, this.owed]) set.clear()
        return missing === 0 ? undefined : `the step ends without ${missing} of the reminders that its results showed`
      }
      default:
        return undefined
    }
  }
}
