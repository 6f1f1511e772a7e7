import type { Context } from '@deepseek-ai/cordis'
import type { Outcome } from '@loopguard/repeat'
import { type Block, listen, type LogEvent } from '../show/log-events.ts'

/** A tool call that has come to something. */
export interface TrailCall {
  readonly turn: number
  readonly step: number
  readonly callId: string
  readonly name: string
  /** The model's raw text. */
  readonly arguments: string
  readonly outcome: Outcome
}

/** What an agent did, as far as rules ask: its calls in the order of the model, and where its user spoke. */
export type Trail = readonly (TrailCall | 'user')[]

/** Keeps the trails of all agents, off their logs. */
export class Trails {
  private readonly trails = new Map<string, (TrailCall | 'user')[]>()
  private readonly open = new Map<string, Extract<LogEvent, { type: 'tool/call' }>['data']>()

  attach(ctx: Context): void {
    listen(ctx, 'session/event', ({ id }, event) => this.note(id, event))
  }

  note(agent: string, event: LogEvent): void {
    if (event.type === 'user/message' && event.data.source.kind === 'user') this.trailOf(agent).push('user')
    if (event.type === 'tool/call') this.open.set(`${agent} ${event.data.callId}`, event.data)
    if (event.type !== 'tool/result') return
    const [block] = event.data.message.content
    const call = this.open.get(`${agent} ${block?.toolCallId ?? ''}`)
    if (call === undefined || block === undefined) return
    const { turn, step, callId, name, arguments: raw } = call
    this.trailOf(agent).push({ turn, step, callId, name, arguments: raw, outcome: outcomeOf(block) })
  }

  entries(): readonly (readonly [agent: string, trail: Trail])[] {
    return [...this.trails]
  }

  private trailOf(agent: string): (TrailCall | 'user')[] {
    const trail = this.trails.get(agent) ?? []
    this.trails.set(agent, trail)
    return trail
  }
}

function outcomeOf({ isError, content = [] }: Block): Outcome {
  return {
    isError: isError === true,
    text: content.map((block) => (block.type === 'text' ? (block.text ?? '') : JSON.stringify(block))).join('\n'),
  }
}
