import { HarnessError, show } from '@loopguard/kit'
import type { JobOwner, JobRequest } from './types.ts'

const MAX_LABEL = 200

/** @throws HarnessError `BAD_JOB` that names the field, the value and what is wanted. */
export function checkRequest(request: JobRequest): void {
  const { kind, label, owner, run } = Object(request) as Partial<JobRequest>
  if (typeof kind !== 'string' || !/^[a-z][a-z\d]*(-[a-z\d]+)*$/.test(kind)) {
    throw bad(`\`kind\` must be small letters, digits and dashes, got ${show(kind)}`)
  }
  if (typeof label !== 'string') throw bad(`\`label\` must be text, got ${show(label)}`)
  if (typeof run !== 'function') throw bad(`\`run\` must be a function, got ${show(run)}`)
  checkOwner(owner)
}

/** @throws HarnessError `BAD_JOB` */
export function checkOwner(owner: unknown): asserts owner is JobOwner {
  const { ctx, session } = Object(owner) as Partial<JobOwner>
  if (typeof ctx?.effect !== 'function' || typeof session?.append !== 'function') {
    throw bad(`a job needs an owner, an agent with a session; got ${show(owner)}`)
  }
}

/** On one line, at most 200 code points. */
export function labelOf(text: string): string {
  // Twice as many code units hold at least that many code points.
  const line = text
    .slice(0, 4 * MAX_LABEL)
    .replaceAll(/[\s\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim()
  const points = Array.from(line)
  return points.length > MAX_LABEL || text.length > 4 * MAX_LABEL ? `${points.slice(0, MAX_LABEL - 1).join('')}…` : line
}

const bad = (why: string): HarnessError => new HarnessError(`jobs: ${why}`, 'BAD_JOB')
