export type * from './types.ts'
export { Config } from './config.ts'
export { Workflows, Workflows as default } from './workflows.ts'
