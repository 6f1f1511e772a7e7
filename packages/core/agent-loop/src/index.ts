export type * from './types.ts'
export type { Frontend } from './frontend.ts'
export { AgentLoop, AgentLoop as default, type AgentPrompt } from './loop.ts'
export { type AgentRow, Config } from './config.ts'
