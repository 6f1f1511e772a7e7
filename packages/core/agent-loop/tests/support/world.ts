import type { Agent, PreStepDecision } from '@loopguard/agent-loop'
import { createUserMessage, LlmError, type LlmRequest, type StreamChunk, text, type UserMessage } from '@loopguard/llm'
import type { SessionEvent } from '@loopguard/session'
import { type Harness, ScriptedModel, type ScriptEntry, userMessage } from '@loopguard/testkit'
import type fc from 'fast-check'
import { derived } from './laws.ts'
import type { Models } from './models.ts'
import { tool } from './tools.ts'

/** What somebody outside does to the agent. */
export type Action =
  { readonly kind: 'followup' | 'steer' | 'inject' | 'resend' | 'dispose' } | { readonly kind: 'cancel'; readonly keepInbox: boolean }

/** What one request is answered with. */
export type Answer =
  { readonly kind: 'text' | 'slow' | 'cut' | 'fail' | 'hang' | 'broken' } | { readonly kind: 'calls'; readonly tools: readonly ToolName[] }

export type ToolName = 'safe' | 'alone' | 'throws' | 'concludes' | 'defers' | 'nobody' | 'denied' | 'steers'

/** One run: what the model, the listeners and the outside do. Each list is used up from the front; then all goes its plain way. */
export interface Plan {
  readonly answers: readonly Answer[]
  readonly preSteps: readonly ('enter' | 'add' | 'drop' | 'reject' | 'throw' | 'garbage')[]
  readonly errors: readonly ('retry' | 'pass' | 'throw')[]
  readonly stops: readonly ('pass' | 'steer' | 'throw')[]
  /** What is done outside, in this order, at moments that the scheduler picks. */
  readonly actions: readonly Action[]
  /** What is done from inside the listeners of the log, by the number of the event, at once or some microtasks later. */
  readonly reactions: readonly { readonly seq: number; readonly ticks: number; readonly action: Action }[]
}

/** Something that was done, and how long the log was then. */
export interface Deed {
  readonly kind: Action['kind']
  readonly at: number
}

let made = 0

/** An agent of its own on a shared host, that lives through a plan. Whatever is awaited in it, the scheduler lets go on. */
export class World {
  readonly agent: Agent
  readonly statuses: string[] = []
  readonly deeds: Deed[] = []
  /** What each pre-step let in, by turn and step. */
  readonly entries = new Map<string, readonly UserMessage[]>()
  readonly faults: string[] = []
  private readonly plan: Plan
  private readonly scheduler: fc.Scheduler
  private readonly queues: { [K in 'preSteps' | 'errors' | 'stops']: Plan[K][number][] }
  private calls = 0
  private last = userMessage('first')
  private isGone = false
  private disposed: Promise<void> | undefined

  constructor(harness: Harness, models: Models, plan: Plan, scheduler: fc.Scheduler) {
    this.plan = plan
    this.scheduler = scheduler
    this.queues = { preSteps: [...plan.preSteps], errors: [...plan.errors], stops: [...plan.stops] }
    this.agent = harness.agent({ id: `world-${++made}` })
    const answers = [...plan.answers]
    models.give(this.agent.id, (request) => this.stream(request, answers.shift() ?? { kind: 'text' }))
    this.listen()
    this.registerTools()
  }

  /** Lives through the plan to its end. */
  async run(): Promise<void> {
    const { scheduler, agent } = this
    scheduler.scheduleSequence(this.plan.actions.map((action) => ({ label: action.kind, builder: async () => this.act(action) })))
    await this.rest()
    // What hangs is waiting for a cancel, and each cancel may lead to the next turn that hangs.
    for (let round = 0; agent.status === 'running' && round < 50; round++) {
      this.act({ kind: 'cancel', keepInbox: true })
      await this.rest()
    }
    if (agent.status === 'running') this.faults.push('the agent does not come to rest')
    else await this.disposed
  }

  private act(action: Action): void {
    const { agent } = this
    const { kind } = action
    const { isGone } = this
    this.deeds.push({ kind, at: agent.session.events.length })
    try {
      if (kind === 'dispose') {
        this.isGone = true
        this.disposed = agent.dispose()
      } else if (kind === 'cancel') agent.cancel({ kind: `cancel at ${agent.session.events.length}` }, { keepInbox: action.keepInbox })
      else if (kind === 'resend') agent.followup(this.last)
      else agent[kind]((this.last = userMessage(`${kind} at ${agent.session.events.length}`)))
      if (isGone && kind !== 'dispose' && kind !== 'cancel') this.faults.push(`${kind} was taken after the disposal`)
    } catch (error) {
      if (!isGone) this.faults.push(`${kind} threw ${String(error)}`)
    }
  }

  private async later(ticks: number, action: Action): Promise<void> {
    for (let tick = 0; tick < ticks; tick++) await Promise.resolve()
    this.act(action)
  }

  private async rest(): Promise<void> {
    const { scheduler } = this
    for (let round = 0; round === 0 || scheduler.count() > 0; round++) {
      await scheduler.waitIdle()
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  /** A moment at which other things may happen. */
  private pause(label: string): Promise<void> {
    return this.scheduler.schedule(Promise.resolve(), label)
  }

  private async *stream(request: LlmRequest, answer: Answer): AsyncGenerator<StreamChunk> {
    this.checkRequest(request)
    await this.pause('request')
    if (answer.kind === 'slow') {
      yield { type: 'block-start', index: 0, blockType: 'text' }
      for (const text of ['so ', 'slow']) {
        yield { type: 'text-delta', index: 0, text }
        await this.pause('stream')
        request.signal.throwIfAborted()
      }
      yield { type: 'block-end', index: 0, block: { type: 'text', text: 'so slow' } }
      yield { type: 'finish', reason: { kind: 'stop' } }
    } else yield* new ScriptedModel([entryOf(answer, () => `call-${++this.calls}`)]).stream(request)
  }

  private checkRequest({ messages, model }: LlmRequest): void {
    const { events } = this.agent.session
    if (JSON.stringify(messages) !== JSON.stringify(derived(events))) this.faults.push('a request is not what the log derives')
    const header = events.findLast((event: SessionEvent) => event.type === 'request/header')
    if (header?.data.model !== model) this.faults.push('a request is not what the header says')
  }

  private listen(): void {
    const { ctx, session } = this.agent
    ctx.on('agent/status', ({ status }) => void this.statuses.push(status))
    ctx.on('session/event', (of, { seq }) => {
      if (of !== session) return
      for (const { seq: at, ticks, action } of this.plan.reactions) {
        if (at === seq && ticks === 0) this.act(action)
        else if (at === seq) void this.later(ticks, action)
      }
    })
    ctx.on('agent/pre-step', async ({ turn, step, messages }, next) => {
      await this.pause('pre-step')
      const decision = this.decide(messages) ?? (await next())
      if (decision.kind === 'enter' && Array.isArray(decision.messages)) this.entries.set(`${turn}.${step}`, decision.messages)
      return decision
    })
    ctx.on('agent/request-error', async (_event, next) => {
      await this.pause('request-error')
      const answer = this.queues.errors.shift()
      if (answer === 'throw') throw new Error('a listener failed')
      return answer === 'retry' ? { kind: 'retry' } : next()
    })
    ctx.on('agent/turn-stopping', async () => {
      await this.pause('turn-stopping')
      const answer = this.queues.stops.shift()
      if (answer === 'throw') throw new Error('a listener failed')
      if (answer === 'steer') this.act({ kind: 'steer' })
    })
    ctx.on('tools/pre-execute', async (_exec, next) => {
      await this.pause('pre-execute')
      return next()
    })
    ctx.on('tools/post-execute', async (_exec, _result, next) => {
      await this.pause('post-execute')
      return next()
    })
  }

  private decide(messages: readonly UserMessage[]): PreStepDecision | undefined {
    switch (this.queues.preSteps.shift()) {
      case 'add':
        return { kind: 'enter', messages: [note('added'), ...messages] }
      case 'drop':
        return { kind: 'enter', messages: messages.slice(1) }
      case 'reject':
        return { kind: 'reject' }
      case 'throw':
        throw new Error('a listener failed')
      case 'garbage':
        return { kind: 'enter', messages: 'all of them' as never }
      default:
        return undefined
    }
  }

  private registerTools(): void {
    const { tools } = this.agent.ctx
    const body = async (): Promise<string> => {
      await this.pause('body')
      return 'ok'
    }
    tools.register(tool('safe', body, { isConcurrencySafe: () => true }))
    tools.register(tool('alone', body))
    tools.register(tool('denied', body, { isConcurrencySafe: () => true }))
    tools.register(tool('concludes', body, { concludesTurn: true, isConcurrencySafe: () => true }))
    tools.register(
      tool('throws', async () => {
        await body()
        throw new Error('no luck')
      }),
    )
    tools.register(
      tool(
        'defers',
        (_args, exec) => {
          exec.deferContext(note('deferred'))
          return body()
        },
        { isConcurrencySafe: () => true },
      ),
    )
    tools.register(
      tool('steers', () => {
        if (!this.isGone) this.act({ kind: 'inject' })
        return body()
      }),
    )
    tools.guard(({ name }) => (name === 'denied' ? 'no' : undefined))
  }
}

function entryOf(answer: Answer, nextId: () => string): ScriptEntry {
  switch (answer.kind) {
    case 'cut':
      return { text: 'words', calls: [{ name: 'safe', arguments: {} }], finish: 'max-tokens' }
    case 'fail':
      return () => {
        throw new LlmError('busy', 'BUSY')
      }
    case 'hang':
      return 'hang'
    case 'broken':
      return [{ type: 'block-end', index: 0, block: { type: 'text', text: 'x' } }]
    case 'calls':
      return { calls: answer.tools.map((name) => ({ name, arguments: {}, id: nextId() })) }
    default:
      return { text: 'words' }
  }
}

const note = (words: string): UserMessage => createUserMessage({ content: [text(words)], source: { kind: 'plugin', plugin: 'world' } })
