import { HarnessError } from '@loopguard/kit'

export const badSubagent = (why: string): HarnessError => new HarnessError(`subagents: ${why}`, 'BAD_SUBAGENT')

export const tooDeep = (maxDepth: number): HarnessError =>
  new HarnessError(`limit reached: subagents ${maxDepth} deep (subagent.maxDepth); do the work yourself`, 'SUBAGENT_DEPTH')

export const tooMany = (maxTotal: number): HarnessError =>
  new HarnessError(`limit reached: ${maxTotal} subagents (subagent.maxTotal); do the work yourself`, 'SUBAGENT_TOTAL')

export const subagentFailed = (message: string): HarnessError => new HarnessError(message, 'SUBAGENT_FAILED')

export const subagentsClosed = (parent: string): HarnessError =>
  new HarnessError(`subagents: the service, or the parent "${parent}", is going: it starts no more subagents`, 'SUBAGENTS_CLOSED')

/** The caller has aborted: the child was cancelled with it. */
export class CallAborted extends Error {
  override readonly name: string = 'AbortError'
  readonly code: string = 'ABORTED'
}
