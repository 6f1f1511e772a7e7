import type {
  AssistantMessage,
  LlmFailure,
  MessageId,
  RequestTool,
  SessionId,
  TokenUsage,
  ToolResultMessage,
  UserMessage,
} from '@loopguard/llm'

/** Version of the log format that this package writes, and the highest that it reads. */
export const SESSION_VERSION = 1

/** Which of the two queues of an inbox a message waits in. */
export type InboxTarget = 'next-step' | 'next-turn'

/** Who or what cancelled. Open: any kind, and more JSON beside it. */
export interface CancelCause {
  readonly kind: string
}

/** Why a turn ended. `completed` says that control converged, not that the task is right. */
export type TurnEndReason =
  | { readonly kind: 'completed' | 'max-tokens' | 'blocked' | 'interrupted' }
  | { readonly kind: 'aborted'; readonly reason: CancelCause }
  | { readonly kind: 'error'; readonly error: LlmFailure }

/** The data of each event type. Open: declare more members by merging; types that are not known are kept. */
export interface SessionEventMap {
  'session/start': { readonly version: number; readonly id: SessionId; readonly parent?: SessionId }
  'turn/start': { readonly turn: number }
  'step/start': { readonly turn: number; readonly step: number }
  'user/message': UserMessage
  'request/header': {
    readonly provider: string
    readonly model: string
    readonly system?: string
    readonly tools?: readonly RequestTool[]
    readonly maxTokens?: number
  }
  /** An attempt to ask the model has failed. Attempts of a step count from 1. `text` is what it had said, cut at 2,000 characters. */
  'request/failed': {
    readonly turn: number
    readonly step: number
    readonly attempt: number
    readonly failure: LlmFailure
    readonly text?: string
  }
  /** Who retries says so before it waits. `retry` counts from 1. */
  'request/retry': {
    readonly turn: number
    readonly step: number
    readonly retry: number
    readonly maxRetries: number
    readonly delayMs: number
    readonly failure: LlmFailure
  }
  'assistant/message': {
    readonly turn: number
    readonly step: number
    readonly message: AssistantMessage
    readonly usage?: TokenUsage
    readonly interrupted?: true
    /** Milliseconds from the request of this attempt to the end of its stream. */
    readonly durationMs?: number
    /** Milliseconds from the request to the first chunk that held a piece of the answer, reasoning too. */
    readonly firstTokenMs?: number
  }
  'tool/call': { readonly turn: number; readonly step: number; readonly callId: string; readonly name: string; readonly arguments: string }
  'tool/result': {
    readonly turn: number
    readonly step: number
    readonly message: ToolResultMessage
    readonly error?: { readonly name: string; readonly code: string }
    /** Milliseconds that the body ran; the event itself may have waited for the results of earlier calls. Absent when it never ran. */
    readonly durationMs?: number
    /** Ids of the user messages that this result brought, such as a reminder: they stand after the last result of the step. */
    readonly contextIds?: readonly MessageId[]
  }
  'step/end': { readonly turn: number; readonly step: number }
  'turn/end': { readonly turn: number; readonly reason: TurnEndReason }
  'inbox/queued': { readonly target: InboxTarget; readonly message: UserMessage }
  'inbox/removed': { readonly ids: readonly MessageId[]; readonly cause: 'claimed' | 'discarded' }
}

export type SessionEventType = keyof SessionEventMap

/** One entry of the log: `seq` is contiguous from 0, `time` is milliseconds since the epoch. Deep-frozen. */
export type SessionEvent<T extends SessionEventType = SessionEventType> = {
  readonly [K in T]: { readonly seq: number; readonly time: number; readonly type: K; readonly data: SessionEventMap[K] }
}[T]
