export type * from './types.ts'
export { Config } from './config.ts'
export { WebRuntime, WebRuntime as default } from './service.ts'
