export { repeatedFailureReminder, repeatToolReminder, type ReminderMiddleware } from './reminders.ts'
export { timeLimited } from './time-limited.ts'
export type { FailureConfig, RepeatConfig } from '@loopguard/repeat'
export { ToolTimeoutError } from '@loopguard/timeout'
