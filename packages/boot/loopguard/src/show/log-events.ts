/**
 * What the command knows of session logs. It reads events by their shape, so a log of any host of these shapes will do, and none
 * is imported.
 */

import type { Context } from '@deepseek-ai/cordis'
import type { DelegationData } from './delegation.ts'

/** A block of a message, of any type. */
export interface Block {
  readonly type: string
  readonly text?: string
  readonly id?: string
  readonly name?: string
  readonly arguments?: string
  readonly toolCallId?: string
  readonly isError?: boolean
  readonly content?: readonly Block[]
}

export interface LogMessage {
  readonly id: string
  readonly content: readonly Block[]
  readonly source: { readonly kind: string; readonly plugin?: string; readonly agent?: string; readonly goalId?: string }
}

interface Place {
  readonly turn: number
  readonly step: number
}

/** Why a turn ended. */
export interface EndReason {
  readonly kind: string
  readonly error?: { readonly message: string; readonly code: string }
  /** Who aborted it; a limit says which one it is. */
  readonly reason?: { readonly kind: string; readonly limit?: string }
}

/** Why a request to a model failed. */
export interface RequestFailure {
  readonly code: string
  readonly status?: number
}

interface EventData extends DelegationData {
  'turn/start': { readonly turn: number }
  'turn/end': { readonly turn: number; readonly reason: EndReason }
  'step/start': Place
  'step/end': Place
  'user/message': LogMessage
  'request/header': {
    readonly provider: string
    readonly model: string
    readonly system?: string
    readonly tools?: readonly { readonly name: string }[]
  }
  'request/failed': Place & { readonly failure: RequestFailure }
  'request/retry': Place & { readonly retry: number; readonly maxRetries: number; readonly delayMs: number }
  'assistant/message': Place & {
    readonly message: LogMessage
    readonly usage?: { readonly inputTokens: number; readonly outputTokens: number }
    readonly interrupted?: true
  }
  'tool/call': Place & { readonly callId: string; readonly name: string; readonly arguments: string }
  'budget/reached': Place & { readonly limit: string; readonly value: number }
  'tool/result': Place & {
    readonly message: LogMessage
    readonly error?: { readonly name: string; readonly code: string }
    readonly contextIds?: readonly string[]
    readonly durationMs?: number
  }
}

/** The events of a session log that are shown or counted; a log holds others too. */
export type LogEvent = { [K in keyof EventData]: { readonly type: K; readonly data: EventData[K] } }[keyof EventData]

/** A tool call as `tools/result` shows it. */
interface LoggedCall {
  readonly callId: string
  readonly name: string
  readonly agent?: { readonly id: string } | undefined
}

interface LoggedResult {
  readonly additionalContexts?: readonly LogMessage[]
}

interface Listeners {
  'session/event': (session: { readonly id: string; readonly events?: readonly LogEvent[] }, event: LogEvent) => void
  'tools/result': (call: LoggedCall, result: LoggedResult) => void
  'agent/error': (event: { readonly error: unknown }) => void
}

/** Listens to events that other packages declare. */
export function listen<Name extends keyof Listeners>(ctx: Context, name: Name, listener: Listeners[Name]): void {
  ;(ctx.on as unknown as (name: Name, listener: Listeners[Name]) => void).call(ctx, name, listener)
}

/** The guard whose reminders the summary lists as `reminded`. */
export const REPEAT_REMINDER = 'repeat-tool-reminder'
const REMINDERS: ReadonlySet<string | undefined> = new Set([REPEAT_REMINDER, 'repeated-failure-reminder'])
const TIMEOUT_CODE = 'TOOL_TIMEOUT'

/** The guard that a message is a reminder of, by its source. */
export function reminderOf({ source }: LogMessage): string | undefined {
  return source.kind === 'plugin' && REMINDERS.has(source.plugin) ? source.plugin : undefined
}

export function isReminder(message: LogMessage): boolean {
  return reminderOf(message) !== undefined
}

/** Whether the failure of a tool result is a timeout of the guard, by its code. */
export function isTimeout(error: { readonly code: string } | undefined): boolean {
  return error?.code === TIMEOUT_CODE
}
