export { Config } from './config.ts'
export { Shell, Shell as default } from './shell.ts'
export type { OutputSlice, ShellEnd, ShellProcess, ShellRequest, ShellResult, ShellSpec, Truncation } from './types.ts'
