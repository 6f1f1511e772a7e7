/**
 * As much of a host as this command needs to know. It finds services by name and reads events by shape, so any host of these
 * shapes will do, and none is imported.
 */

import type { Context } from '@deepseek-ai/cordis'

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

export interface HostMessage {
  readonly id: string
  readonly content: readonly Block[]
  readonly source: { readonly kind: string; readonly plugin?: string }
}

interface Place {
  readonly turn: number
  readonly step: number
}

/** Why a turn ended. */
export interface EndReason {
  readonly kind: string
  readonly error?: { readonly message: string; readonly code: string }
  readonly reason?: { readonly kind: string }
}

interface EventData {
  'turn/start': { readonly turn: number }
  'turn/end': { readonly turn: number; readonly reason: EndReason }
  'step/start': Place
  'step/end': Place
  'user/message': HostMessage
  'request/header': {
    readonly provider: string
    readonly model: string
    readonly system?: string
    readonly tools?: readonly { readonly name: string }[]
  }
  'assistant/message': Place & {
    readonly message: HostMessage
    readonly usage?: { readonly inputTokens: number; readonly outputTokens: number }
    readonly interrupted?: true
  }
  'tool/call': Place & { readonly callId: string; readonly name: string; readonly arguments: string }
  'tool/result': Place & { readonly message: HostMessage; readonly error?: { readonly name: string; readonly code: string } }
}

/** The events of a session log that are shown or counted; a log holds others too. */
export type HostEvent = { [K in keyof EventData]: { readonly type: K; readonly data: EventData[K] } }[keyof EventData]

/** A tool call as `tools/result` shows it. */
interface HostCall {
  readonly callId: string
  readonly name: string
  readonly agent?: { readonly id: string } | undefined
}

interface HostResult {
  readonly additionalContexts?: readonly HostMessage[]
}

export interface HostAgent {
  readonly id: string
  readonly status: string
  followup(message: object): void
  cancel(cause: { readonly kind: string; readonly signal?: string }): void
  whenIdle(): Promise<void>
}

export interface HostLoop {
  list(): readonly HostAgent[]
  prompts?(): readonly { readonly agent: HostAgent; readonly prompt: string }[]
}

interface Listeners {
  'session/event': (session: { readonly id: string }, event: HostEvent) => void
  'tools/result': (call: HostCall, result: HostResult) => void
  'agent/error': (event: { readonly agent: HostAgent; readonly error: unknown }) => void
}

/** Listens to events that other packages declare. */
export function listen<Name extends keyof Listeners>(ctx: Context, name: Name, listener: Listeners[Name]): void {
  ;(ctx.on as unknown as (name: Name, listener: Listeners[Name]) => void).call(ctx, name, listener)
}

/** Emits `loopguard/ready`: every row is active, work may begin. */
export function announceReady(ctx: Context): void {
  ;(ctx.emit as unknown as (name: string) => void).call(ctx, 'loopguard/ready')
}

/** The agent loop of a composition that has one. */
export function loopOf(ctx: Context): HostLoop | undefined {
  return ctx.get('agentLoop') as HostLoop | undefined
}

/** The entries of the invariants' configured lists that match no package, if the composition has a registry that can tell. */
export function unmatchedInvariants(ctx: Context): readonly string[] {
  const registry = ctx.get('invariants') as { unmatched?(): readonly string[] } | undefined
  return registry?.unmatched?.() ?? []
}
