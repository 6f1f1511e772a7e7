import type { LogEvent } from './log-events.ts'

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
export interface Activity {
  readonly turn: number
  step: number
  /** Asked, and not answered yet. */
  asking: boolean
  /** When the last thing began or ended that is waited for, in milliseconds of the clock. */
  sinceMs: number
  /** Calls without a result, oldest first. */
  readonly open: Map<string, { readonly call: CallRecord; readonly sinceMs: number }>
}

/** Knows what each agent does at the moment, by its log while that is written. */
export class Activities {
  private readonly active = new Map<string, Activity>()
  private readonly now: () => number

  constructor(now: () => number = () => performance.now()) {
    this.now = now
  }

  note(agent: string, event: LogEvent): void {
    const sinceMs = this.now()
    if (event.type === 'turn/start') this.active.set(agent, { turn: event.data.turn, step: 0, asking: false, sinceMs, open: new Map() })
    const activity = this.active.get(agent)
    if (activity === undefined) return
    switch (event.type) {
      case 'step/start':
        Object.assign(activity, { step: event.data.step, asking: true, sinceMs })
        return
      case 'assistant/message':
      case 'step/end':
        Object.assign(activity, { asking: false, sinceMs })
        return
      case 'tool/call':
        activity.open.set(event.data.callId, { call: { agent, ...event.data }, sinceMs })
        return
      case 'tool/result':
        activity.open.delete(event.data.message.content[0]?.toolCallId ?? '')
        activity.sinceMs = sinceMs
        return
      case 'turn/end':
        this.active.delete(agent)
        return
      case 'turn/start':
      case 'user/message':
      case 'request/header':
      case 'request/failed':
      case 'request/retry':
      default:
    }
  }

  /** What an agent does; `undefined` between its turns. */
  of(agent: string): Activity | undefined {
    return this.active.get(agent)
  }

  /** The agents that are in a turn, each with what it does; the one whose turn began first comes first. */
  all(): readonly (readonly [agent: string, activity: Activity])[] {
    return [...this.active]
  }

  /** What runs at this moment, one line each, for a person. */
  running(): string[] {
    return this.all().flatMap(([agent, { turn, step, asking, open }]) => {
      const place = `agent "${agent}", turn ${turn}, step ${step}`
      if (open.size > 0) return [...open.values()].map(({ call }) => `${place}: the call "${call.callId}" of the tool "${call.name}"`)
      return [asking ? `${place}: the request to the model` : place]
    })
  }
}
