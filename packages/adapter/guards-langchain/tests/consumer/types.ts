import { repeatToolReminder, timeLimited, type ToolConfig } from '@loopguard/guards-langchain'
import { type AgentMiddleware, ToolMessage } from 'langchain'

export const middleware: AgentMiddleware = repeatToolReminder({ thresholds: [3], exclude: ['todo_*'] })
export const body: (args: object, config: ToolConfig) => Promise<string | ToolMessage> = timeLimited(() => 'same', 5)

// The types are not `any`.
// @ts-expect-error -- a threshold is a number
repeatToolReminder({ thresholds: ['3'] })
// @ts-expect-error -- milliseconds are a number
timeLimited(() => 1, '5')
