export { CallId, MessageId, SessionId } from './ids.ts'
export { codeOf, failureOf, HarnessError, LlmError, messageOf, type LlmErrorOptions, type LlmFailure } from './errors.ts'
export { JsonError, parseSnapshot, snapshot, type JsonValue } from './json.ts'
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
  type ReasoningBlock,
  type TextBlock,
  type ToolCallBlock,
  type ToolResultBlock,
  type ToolResultMessage,
  type UserMessage,
} from './message.ts'
export { StreamAssembler, type FinishReason, type ModelBlock, type StreamChunk, type TokenUsage } from './stream.ts'
export { busOf, emitContained, resolveContained, type Bus } from './contained.ts'
export { ownerAt, plain, type Hook } from './traced.ts'
export { LlmAdapter, LlmRuntime, LlmRuntime as default, type LlmRequest, type RequestTool } from './runtime.ts'
export { keyHint, nearest } from './nearest.ts'
export { strictConfig } from './strict-config.ts'
