export { repeatedFailureReminder, repeatToolReminder } from './reminders.ts'
export { timeLimited, type ToolConfig } from './time-limited.ts'
export type { FailureConfig, RepeatConfig } from '@loopguard/repeat'
export { ToolTimeoutError } from '@loopguard/timeout'
