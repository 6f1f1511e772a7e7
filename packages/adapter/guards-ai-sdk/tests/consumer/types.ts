import { type ReminderMiddleware, repeatToolReminder, timeLimited, ToolTimeoutError } from '@loopguard/guards-ai-sdk'

export const middleware: ReminderMiddleware = repeatToolReminder({ thresholds: [3], exclude: ['todo_*'] })
export const bounded: { execute: () => string } = timeLimited({ execute: () => 'same' }, 5)
export const late: ToolTimeoutError = new ToolTimeoutError(5)

// The types are not `any`.
// @ts-expect-error -- a threshold is a number
repeatToolReminder({ thresholds: ['3'] })
// @ts-expect-error -- milliseconds are a number
timeLimited({ execute: () => 'same' }, '5')
