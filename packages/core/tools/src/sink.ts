import { HarnessError, messageOf } from '@loopguard/kit'
import type { UserMessage } from '@loopguard/llm'
import { contextOf } from './content.ts'
import { Stopwatch } from './stopwatch.ts'
import type { ToolExecutionResult } from './types.ts'

export const NO_CONTEXTS: readonly UserMessage[] = Object.freeze([])

/**
 * Where the contexts and the conclusion of one attempt gather: those of the body, and those of the calls that it makes. A closed
 * sink takes no more.
 */
export class Sink {
  concluded = false
  open = true
  /** Of the body of this attempt; not started if the body was not. */
  readonly body: Stopwatch = new Stopwatch()
  /** What the attempt came to, once it has. */
  result: ToolExecutionResult | undefined = undefined
  /** Each message id once, in order. Made when first needed: most calls defer nothing. */
  private messages: Map<string, UserMessage> | undefined

  get isEmpty(): boolean {
    return !this.concluded && this.messages === undefined
  }

  get contexts(): readonly UserMessage[] {
    return this.messages === undefined ? NO_CONTEXTS : Object.freeze([...this.messages.values()])
  }

  has(id: string): boolean {
    return this.messages?.has(id) === true
  }

  /** @throws HarnessError `CALL_FINISHED` when closed, `BAD_CONTEXT` for what is no user message. */
  defer(name: string, message: unknown): void {
    this.assertOpen(name, 'deferContext')
    let context
    try {
      context = contextOf(message, 'message')
    } catch (thrown) {
      throw new HarnessError(`tool "${name}": exec.deferContext: ${messageOf(thrown)}`, 'BAD_CONTEXT', { cause: thrown })
    }
    this.add(context)
  }

  /** @throws HarnessError `CALL_FINISHED` when closed. */
  conclude(name: string): void {
    this.assertOpen(name, 'concludeTurn')
    this.concluded = true
  }

  /** Takes over what a nested call came to. */
  take(result: ToolExecutionResult): void {
    if (!this.open) return
    for (const context of result.additionalContexts ?? NO_CONTEXTS) this.add(context)
    if (!result.isError && result.concludesTurn === true) this.concluded = true
  }

  private add(context: UserMessage): void {
    this.messages ??= new Map()
    if (!this.messages.has(context.id)) this.messages.set(context.id, context)
  }

  private assertOpen(name: string, method: string): void {
    if (!this.open) throw new HarnessError(`tool "${name}": exec.${method} was called after its body had settled`, 'CALL_FINISHED')
  }
}

/** The messages of both lists in order, each id once, frozen. */
export function mergeContexts(first: readonly UserMessage[], second: readonly UserMessage[]): readonly UserMessage[] {
  if (second.length === 0) return first
  const ids = new Set(first.map(({ id }) => id))
  const added = second.filter(({ id }) => !ids.has(id) && ids.add(id))
  return Object.freeze([...first, ...added])
}
