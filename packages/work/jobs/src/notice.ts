import { randomUUID } from 'node:crypto'
import type { MessageId, UserMessage } from '@loopguard/llm'
import type { JobInfo } from './types.ts'

/** Where every message of this package comes from. No user: it neither ends a run of equal calls nor refills a budget. */
const SOURCE = { kind: 'plugin', plugin: 'jobs' } as const

/** What the agent is told when a job has ended, in one sentence; never what the job printed. */
export function noticeOf(job: JobInfo): UserMessage {
  const { id, kind, label } = job
  const text = `Background job ${id} (${kind}: ${label}) has ended with the status ${statusOf(job)}; job_output reads what it printed.`
  return Object.freeze({
    id: randomUUID() as MessageId,
    role: 'user',
    content: Object.freeze([Object.freeze({ type: 'text', text })]),
    source: Object.freeze(SOURCE),
  })
}

export function isNotice({ source }: UserMessage): boolean {
  return source.kind === 'plugin' && source.plugin === SOURCE.plugin
}

/** `running`, `completed, exit code: 0`. */
export function statusOf({ status, detail }: JobInfo): string {
  return detail === undefined ? status : `${status}, ${detail}`
}

/** The line that ends what the model reads of a job. */
export const statusLine = (job: JobInfo): string => `[status: ${statusOf(job)}]`
