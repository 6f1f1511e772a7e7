import { HarnessError } from '@loopguard/kit'

export const badWorkflow = (why: string): HarnessError => new HarnessError(`workflow: ${why}`, 'BAD_WORKFLOW')

export const agentCap = (max: number): HarnessError =>
  new HarnessError(`limit reached: ${max} agents in this run (workflow.maxTotalAgents)`, 'AGENT_CAP')

export const cancelled = (refusals: number, cause: unknown): HarnessError =>
  new HarnessError(`workflow: cancelled, since it went on after ${refusals} agents were refused`, 'WORKFLOW_CANCELLED', { cause })

export const over = (): HarnessError => new HarnessError('workflow: the run is over: it makes no more agents', 'WORKFLOW_OVER')

export const closed = (): HarnessError => new HarnessError('workflow: the service is going: it runs no more programs', 'WORKFLOW_CLOSED')
