export { repeatToolReminder } from './repeat-tool-reminder.ts'
export { timeLimited, type ToolConfig } from './time-limited.ts'
export type { RepeatConfig } from '@loopguard/repeat'
export { ToolTimeoutError } from '@loopguard/timeout'
