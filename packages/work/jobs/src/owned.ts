import { HarnessError } from '@loopguard/kit'
import type { Job } from './job.ts'
import { wasStarted } from './numbers.ts'
import type { JobOwner } from './types.ts'

/** Of one owner, how many jobs are kept that have ended and were not read to the end. */
const MAX_ENDED = 50

/** The jobs of one owner. */
export class OwnedJobs {
  readonly owner: JobOwner
  private readonly kept = new Map<string, Job>()
  /** The ids of this life; those before it stand in the log. */
  private readonly started = new Set<string>()
  /** The ids of those that were read to their end. */
  private readonly readOut = new Set<string>()
  private closing: Promise<void> | undefined

  constructor(owner: JobOwner) {
    this.owner = owner
  }

  get isClosing(): boolean {
    return this.closing !== undefined
  }

  /** Oldest first. */
  get jobs(): readonly Job[] {
    return [...this.kept.values()]
  }

  get active(): readonly Job[] {
    return this.jobs.filter(({ hasEnded }) => !hasEnded)
  }

  add(job: Job): void {
    this.kept.set(job.id, job)
    this.started.add(job.id)
  }

  /** Drops what need not be kept. */
  tidy(): void {
    for (const { id, isReadOut } of this.jobs) {
      if (!isReadOut) continue
      this.kept.delete(id)
      this.readOut.add(id)
    }
    const ended = this.jobs.filter(({ hasEnded }) => hasEnded)
    for (const { id } of ended.slice(0, Math.max(0, ended.length - MAX_ENDED))) this.kept.delete(id)
  }

  /** @throws HarnessError `JOB_UNKNOWN`, `JOB_FOREIGN`; the message says what there is. */
  find(id: string, isForeign: () => boolean): Job {
    const job = this.kept.get(id)
    if (job !== undefined) return job
    if (this.started.has(id)) {
      throw unknown(`job "${id}" has ended and is kept no longer: it was read to its end, or more than ${MAX_ENDED} have ended since`)
    }
    if (wasStarted(this.owner.session, id)) throw unknown(`job "${id}" was started before a restart: it is gone, and so is its output`)
    if (isForeign()) throw new HarnessError(`job "${id}" belongs to another session`, 'JOB_FOREIGN')
    const ids = this.jobs.map((each) => each.id).join(', ')
    throw unknown(`there is no job "${id}"; ${ids === '' ? 'this session has none' : `this session has ${ids}`}`)
  }

  has(id: string): boolean {
    return this.kept.has(id)
  }

  wasReadOut(id: string): boolean {
    return this.readOut.has(id)
  }

  /** Cancels all and waits for their ends. */
  close(): Promise<void> {
    return (this.closing ??= this.end())
  }

  private async end(): Promise<void> {
    const { active } = this
    const failures: unknown[] = []
    for (const job of active) {
      try {
        job.cancel('its owner is going')
      } catch (error) {
        failures.push(error)
      }
    }
    await Promise.all(active.map(({ ended }) => ended))
    if (failures.length > 0) throw failures[0]
  }
}

const unknown = (message: string): HarnessError => new HarnessError(message, 'JOB_UNKNOWN')
