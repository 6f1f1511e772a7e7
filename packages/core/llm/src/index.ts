export { CallId, MessageId, SessionId } from './ids.ts'
export { failureOf, LlmError, type LlmErrorOptions, type LlmFailure } from './errors.ts'
export {
  createAssistantMessage,
  createToolResultMessage,
  createUserMessage,
  text,
  type AssistantMessage,
  type ContentBlock,
  type Message,
  type MessageSource,
  type MessageSourceMap,
  type ProviderData,
  type ReasoningBlock,
  type TextBlock,
  type ToolCallBlock,
  type ToolResultBlock,
  type ToolResultMessage,
  type UserMessage,
} from './message.ts'
export { historyOf, withHistory, type History } from './history.ts'
export { contentFault, messageFault } from './message-shape.ts'
export { StreamAssembler, type FinishReason, type ModelBlock, type StreamChunk, type TokenUsage } from './stream.ts'
export { LlmAdapter, LlmRuntime, LlmRuntime as default, type LlmRequest, type RequestTool } from './runtime.ts'

// What used to live here, under the names that it had.
export { busOf, emitContained, ownerAt, plain, resolveContained, type Bus, type Hook } from '@loopguard/cordis-internals'
export {
  codeOf,
  HarnessError,
  JsonError,
  keyHint,
  messageOf,
  nearest,
  parseSnapshot,
  snapshot,
  strictConfig,
  type JsonValue,
} from '@loopguard/kit'
