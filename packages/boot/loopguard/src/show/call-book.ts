import type { Context } from '@deepseek-ai/cordis'
import { Activities, type CallRecord } from './activities.ts'
import { isReminder, listen, type LogEvent, type LogMessage, reminderOf } from './log-events.ts'

/** Knows which call a reminder is about: a log ties them together by `contextIds`, and one without them says it only while it is written. */
export class CallBook {
  /** What the agents do at the moment. */
  readonly activities: Activities = new Activities()
  /** Calls that a reminder followed, in order, each with the guard that it is of. */
  readonly reminded: { readonly guard: string | undefined; readonly call: CallRecord }[] = []
  private readonly causes = new Map<string, CallRecord>()

  /** Listens where results still carry their contexts. */
  attach(ctx: Context): void {
    listen(ctx, 'tools/result', ({ callId, name, agent }, { additionalContexts = [] }) => {
      for (const context of additionalContexts) {
        if (agent === undefined || !isReminder(context)) continue
        const { turn = 0, step = 0 } = this.activities.of(agent.id) ?? {}
        this.causes.set(context.id, this.openCall(agent.id, callId) ?? { agent: agent.id, turn, step, callId, name, arguments: '' })
      }
    })
  }

  /** The call that a reminder followed, by the id of the reminder's message. */
  causeOf(messageId: string): CallRecord | undefined {
    return this.causes.get(messageId)
  }

  note(agent: string, event: LogEvent): void {
    // Before the activities let go of a call that has its result.
    if (event.type === 'tool/result') {
      const { message, contextIds = [] } = event.data
      const call = this.openCall(agent, message.content[0]?.toolCallId ?? '')
      for (const id of contextIds) if (call !== undefined && !this.causes.has(id)) this.causes.set(id, call)
    } else if (event.type === 'user/message') this.remember(event.data)
    this.activities.note(agent, event)
  }

  private openCall(agent: string, callId: string): CallRecord | undefined {
    return this.activities.of(agent)?.open.get(callId)?.call
  }

  private remember(message: LogMessage): void {
    const call = this.causes.get(message.id)
    if (call !== undefined && isReminder(message)) this.reminded.push({ guard: reminderOf(message), call })
  }
}
