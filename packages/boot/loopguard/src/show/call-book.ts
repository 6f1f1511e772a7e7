import type { Context } from '@deepseek-ai/cordis'
import { isReminder, listen, type LogEvent, type LogMessage, reminderOf } from './log-events.ts'

/** A tool call, and where in the conversation it was made. */
export interface CallRecord {
  readonly agent: string
  readonly turn: number
  readonly step: number
  readonly callId: string
  readonly name: string
  /** The model's raw text. */
  readonly arguments: string
}

/** What an agent does right now. */
interface Activity {
  readonly turn: number
  step: number
  /** Asked, and not answered yet. */
  asking: boolean
  readonly open: Map<string, CallRecord>
}

/** Knows which calls run, and which call a reminder is about: a log ties them together by `contextIds`, and one without them says it only while it is written. */
export class CallBook {
  /** Calls that a reminder followed, in order, each with the guard that it is of. */
  readonly reminded: { readonly guard: string | undefined; readonly call: CallRecord }[] = []
  private readonly causes = new Map<string, CallRecord>()
  private readonly active = new Map<string, Activity>()

  /** Listens where results still carry their contexts. */
  attach(ctx: Context): void {
    listen(ctx, 'tools/result', ({ callId, name, agent }, { additionalContexts = [] }) => {
      for (const context of additionalContexts) {
        if (agent === undefined || !isReminder(context)) continue
        const activity = this.active.get(agent.id)
        const { turn = 0, step = 0 } = activity ?? {}
        this.causes.set(context.id, activity?.open.get(callId) ?? { agent: agent.id, turn, step, callId, name, arguments: '' })
      }
    })
  }

  /** The call that a reminder followed, by the id of the reminder's message. */
  causeOf(messageId: string): CallRecord | undefined {
    return this.causes.get(messageId)
  }

  note(agent: string, event: LogEvent): void {
    if (event.type === 'turn/start') this.active.set(agent, { turn: event.data.turn, step: 0, asking: false, open: new Map() })
    const activity = this.active.get(agent)
    if (activity === undefined) return
    switch (event.type) {
      case 'step/start':
        activity.step = event.data.step
        activity.asking = true
        return
      case 'assistant/message':
      case 'step/end':
        activity.asking = false
        return
      case 'tool/call':
        activity.open.set(event.data.callId, { agent, ...event.data })
        return
      case 'tool/result':
        this.close(activity, event.data.message.content[0]?.toolCallId ?? '', event.data.contextIds)
        return
      case 'user/message':
        this.remember(event.data)
        return
      case 'turn/end':
        this.active.delete(agent)
        return
      case 'turn/start':
      case 'request/header':
      case 'request/failed':
      case 'request/retry':
      default:
    }
  }

  /** What runs at this moment, one line each, for a person. */
  running(): string[] {
    return [...this.active].flatMap(([agent, { turn, step, asking, open }]) => {
      const place = `agent "${agent}", turn ${turn}, step ${step}`
      if (open.size > 0) return [...open.values()].map(({ name, callId }) => `${place}: the call "${callId}" of the tool "${name}"`)
      return [asking ? `${place}: the request to the model` : place]
    })
  }

  private close({ open }: Activity, callId: string, contextIds: readonly string[] = []): void {
    const call = open.get(callId)
    open.delete(callId)
    for (const id of contextIds) if (call !== undefined && !this.causes.has(id)) this.causes.set(id, call)
  }

  private remember(message: LogMessage): void {
    const call = this.causes.get(message.id)
    if (call !== undefined && isReminder(message)) this.reminded.push({ guard: reminderOf(message), call })
  }
}
