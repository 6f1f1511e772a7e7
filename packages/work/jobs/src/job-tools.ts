import type { Jobs } from './jobs.ts'
import type { ToolAgent, ToolDefinition, ToolRunContext } from '@loopguard/tools'
import { clampTimeout } from '@loopguard/timeout'
import type { ToolsConfig } from './config.ts'
import type { Desk } from './desk.ts'
import { statusLine, statusOf } from './notice.ts'
import { checkOwner } from './request.ts'
import type { JobInfo, JobOwner, JobReading } from './types.ts'

const ID = { type: 'string', minLength: 1, description: 'The id of the job, such as bash-1.' }

/** What the tools share. */
export interface JobDesk {
  readonly jobs: Jobs
  readonly config: ToolsConfig
  readonly deskOf: (owner: JobOwner) => Desk | undefined
}

export function jobOutput({ jobs, config, deskOf }: JobDesk): ToolDefinition<{
  readonly job_id: string
  readonly wait?: boolean
  readonly timeout_ms?: number
}> {
  const { waitTimeoutMs, maxWaitTimeoutMs } = config
  return {
    name: 'job_output',
    description:
      'Returns what a background job has printed since you read it last, and its status in the last line. With wait, it waits for the ' +
      `end of the job first, at most timeout_ms (${waitTimeoutMs} unless you say otherwise, ${maxWaitTimeoutMs} at most); the job goes on ` +
      'if that is too short. You are told when a job ends: there is no need to poll.',
    parameters: {
      type: 'object',
      properties: {
        job_id: ID,
        wait: { type: 'boolean', description: 'Whether to wait for the end of the job.' },
        timeout_ms: { type: 'number', exclusiveMinimum: 0, description: 'How many milliseconds to wait, at most.' },
      },
      required: ['job_id'],
      additionalProperties: false,
    },
    async execute({ job_id: id, wait = false, timeout_ms: asked }, exec) {
      const owner = ownerOf(exec.agent)
      const timeoutMs = clampTimeout(asked, waitTimeoutMs, maxWaitTimeoutMs, 'timeout_ms')
      if (wait) await untilEnd(jobs, owner, id, timeoutMs, exec.signal)
      const { reading, accept } = jobs.look(owner, id)
      const desk = deskOf(owner)
      const read = (): void => {
        accept()
        if (hasEnded(reading)) desk?.known(id)
      }
      if (desk === undefined) read()
      else desk.whenLogged(exec.callId, read)
      return outputText(reading)
    },
  }
}

export function jobList({ jobs, deskOf }: JobDesk): ToolDefinition {
  return {
    name: 'job_list',
    description: 'Lists your background jobs: those that run, and those that have ended and were not read to the end.',
    parameters: { type: 'object', properties: {}, additionalProperties: false },
    execute(_, exec) {
      const owner = ownerOf(exec.agent)
      const list = jobs.list(owner)
      const desk = deskOf(owner)
      desk?.whenLogged(exec.callId, () => list.filter(hasEnded).forEach(({ id }) => desk.known(id)))
      return list.length === 0 ? '(no jobs)' : list.map((job) => `${job.id} [${statusOf(job)}] ${job.label}`).join('\n')
    },
  }
}

export function jobKill({ jobs, deskOf }: JobDesk): ToolDefinition<{ readonly job_id: string; readonly reason?: string }> {
  return {
    name: 'job_kill',
    description: 'Asks a background job to end, and returns at once. What it has printed can still be read.',
    parameters: {
      type: 'object',
      properties: { job_id: ID, reason: { type: 'string', description: 'Why, in a few words.' } },
      required: ['job_id'],
      additionalProperties: false,
    },
    execute({ job_id: id, reason }, exec) {
      const owner = ownerOf(exec.agent)
      const before = jobs.list(owner).find((job) => job.id === id)
      const job = jobs.kill(owner, id, reason)
      const desk = deskOf(owner)
      desk?.whenLogged(exec.callId, () => desk.known(id))
      const said = before !== undefined && hasEnded(before) ? `job ${id} had ended already` : `job ${id} was asked to end`
      return `${said}\n${statusLine(job)}`
    },
  }
}

function outputText(reading: JobReading): string {
  const { output, note } = reading
  const printed = output === '' ? '(no new output)' : output.endsWith('\n') ? output.slice(0, -1) : output
  return [printed, ...(note === undefined ? [] : [note]), statusLine(reading)].join('\n')
}

const hasEnded = ({ status }: JobInfo): boolean => status !== 'running' && status !== 'stopping'

/** @throws HarnessError `BAD_JOB` for a call without an agent, or with one that has no session. */
function ownerOf(agent: ToolAgent | undefined): JobOwner {
  checkOwner(agent)
  return agent
}

/** @throws with `ABORTED` when the signal aborts first, and what `wait` rejects with. */
async function untilEnd(jobs: Jobs, owner: JobOwner, id: string, timeoutMs: number, signal: ToolRunContext['signal']): Promise<void> {
  try {
    await jobs.wait(owner, id, { timeoutMs, signal })
  } catch (error) {
    if (signal.aborted) throw new WaitAborted()
    throw error
  }
}

/** What the pipeline itself says of a call whose caller has aborted; here also for a signal that a wrapper put in its place. */
class WaitAborted extends Error {
  override readonly name: string = 'AbortError'
  readonly code: string = 'ABORTED'

  constructor() {
    super('tool call aborted')
  }
}
