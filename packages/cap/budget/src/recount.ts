import type { SessionEvent } from '@loopguard/session'

/** What was used, as far as the companion counts it: one for the open turn, one for the agent. Of interrupted turns `ms` holds the pause, too. */
interface Tally {
  steps: number
  calls: number
  tokens: number
  ms: number
}

const SCOPES = { PerTurn: 'turn', PerAgent: 'agent', maxTurnMs: 'turn', maxAgentMs: 'agent' } as const

/** A log, counted anew. */
export class Recount {
  private readonly tallies = { turn: empty(), agent: empty() }
  private readonly told: { readonly key: string; readonly turn: number }[] = []
  private turn = 0
  private startedAt: number | undefined
  private read = 0
  private readonly events: readonly SessionEvent[]
  private readonly isMeant: (tool: string) => boolean

  constructor(events: readonly SessionEvent[], isMeant: (tool: string) => boolean) {
    this.events = events
    this.isMeant = isMeant
  }

  /** How much was used of what a key limits, at a time of the log. */
  used(limit: string, now: number): number {
    this.catchUp()
    const scope = scopeOf(limit)
    const { steps, calls, tokens, ms } = this.tallies[scope]
    if (limit.startsWith('maxSteps')) return steps
    if (limit.startsWith('maxCalls')) return calls
    if (limit.startsWith('maxTokens')) return tokens
    return this.startedAt === undefined ? ms : ms + Math.max(0, now - this.startedAt)
  }

  hasTold(limit: string, value: unknown): boolean {
    this.catchUp()
    return this.told.some(({ key, turn }) => key === `${limit} ${String(value)}` && (scopeOf(limit) === 'agent' || turn === this.turn))
  }

  private catchUp(): void {
    while (this.read < this.events.length) {
      const event = this.events[this.read++] as SessionEvent
      const { turn, agent } = this.tallies
      if (event.type === 'turn/start') {
        Object.assign(turn, empty())
        this.turn = event.data.turn
        this.startedAt = event.time
      } else if (event.type === 'turn/end') {
        agent.ms += Math.max(0, event.time - (this.startedAt ?? event.time))
        Object.assign(turn, empty())
        this.startedAt = undefined
      }
      for (const tally of [turn, agent]) count(tally, event, this.isMeant)
      if (event.type === 'budget/reached') this.told.push({ key: `${event.data.limit} ${event.data.value}`, turn: this.turn })
    }
  }
}

function count(tally: Tally, { type, data }: SessionEvent, isMeant: (tool: string) => boolean): void {
  if (type === 'step/start') tally.steps++
  else if (type === 'tool/call' && isMeant(data.name)) tally.calls++
  else if (type === 'assistant/message') {
    for (const tokens of [data.usage?.inputTokens, data.usage?.outputTokens] as unknown[])
      if (typeof tokens === 'number' && tokens > 0 && tokens < Infinity) tally.tokens += tokens
  }
}

function empty(): Tally {
  return { steps: 0, calls: 0, tokens: 0, ms: 0 }
}

function scopeOf(limit: string): 'turn' | 'agent' {
  const [, scope = 'turn'] = Object.entries(SCOPES).find(([end]) => limit.endsWith(end)) ?? []
  return scope
}
