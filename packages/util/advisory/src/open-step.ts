import type { Agent } from '@loopguard/agent-loop'
import type { ContentBlock } from '@loopguard/llm'

/** How far a call has come: its result is shown first, and logged then. */
export type CallState = 'open' | 'seen' | 'logged'

/** The calls of a step, and the reminders that its results showed and its log has not. */
export class OpenStep {
  /** By id. */
  readonly calls: Map<string, CallState> = new Map()
  /** How many calls have no result in the log. */
  open: number
  /** Whose it is, once something is owed. */
  agent: Partial<Agent> | undefined
  /** Most steps owe none. */
  private owed: Set<string> | undefined

  constructor(content: readonly ContentBlock[]) {
    for (const block of content) if (block.type === 'tool-call') this.calls.set(block.id, 'open')
    this.open = this.calls.size
  }

  get owing(): number {
    return this.owed?.size ?? 0
  }

  owe(id: string): void {
    this.owed ??= new Set()
    this.owed.add(id)
  }

  /** Whether it was owed. */
  settle(id: string): boolean {
    return this.owed?.delete(id) === true
  }

  /** The result of a call is logged. Returns how far the call had come. */
  close(id: string): CallState | undefined {
    const state = this.calls.get(id)
    if (state === undefined || state === 'logged') return state
    this.calls.set(id, 'logged')
    this.open--
    return state
  }
}
