import { type Context, Service } from '@deepseek-ai/cordis'
import type z from '@deepseek-ai/schemastery'
import { type Bus, busOf, emitContained } from '@loopguard/cordis-internals'
import { HarnessError, messageOf } from '@loopguard/kit'
import type { SessionId } from '@loopguard/llm'
import type { Session } from '@loopguard/session'
import { clampTimeout, MAX_TIMER_DELAY_MS } from '@loopguard/timeout'
import { Config } from './config.ts'
import { Job } from './job.ts'
import { nextNumber } from './numbers.ts'
import { OwnedJobs } from './owned.ts'
import { checkOwner, checkRequest, labelOf } from './request.ts'
import type { JobInfo, JobOwner, JobReading, JobRequest } from './types.ts'
import { waitFor } from './waiting.ts'

declare module '@deepseek-ai/cordis' {
  interface Context {
    jobs: Jobs
  }

  interface Events {
    /**
     * A job has come to its end, and it stands in the log. Not emitted for one that ended because its owner, or the service, goes.
     * @mode emit; listeners are contained.
     */
    'jobs/end'(event: { readonly job: JobInfo; readonly owner: JobOwner }): void
  }
}

/**
 * `ctx.jobs`: work in the background, each piece of it somebody's. Only the owner sees or touches a job. It ends with its owner, and with
 * this service, whichever goes first; both wait until it has.
 */
export class Jobs extends Service {
  static readonly Config: z<Partial<Config>, Config> = Config

  private readonly limit: number
  private readonly bus: Bus
  private readonly owners = new Map<Session, { readonly owned: OwnedJobs; readonly release: () => unknown }>()
  private isClosed = false

  constructor(ctx: Context, { maxConcurrentJobsPerOwner }: Config) {
    super(ctx, 'jobs')
    this.limit = maxConcurrentJobsPerOwner
    this.bus = busOf(ctx)
    ctx.effect(
      () => async () => {
        this.isClosed = true
        await Promise.all(Array.from(this.owners.values(), ({ release }) => release()))
      },
      'ctx.jobs: what runs',
    )
  }

  /**
   * Starts a job and returns its id. It is logged before `run` is called.
   * @throws HarnessError `BAD_JOB`, `JOB_LIMIT`, `JOBS_CLOSED`, what the log throws, and what `run` throws.
   */
  start(request: JobRequest): string {
    checkRequest(request)
    const { owner, kind, run } = request
    const owned = this.ownedBy(owner)
    if (owned.active.length >= this.limit) {
      throw new HarnessError(
        `${this.limit} jobs run already, which is the most (\`maxConcurrentJobsPerOwner\`): wait for one of them, or kill one`,
        'JOB_LIMIT',
      )
    }
    const id = `${kind}-${nextNumber(owner.session, kind)}`
    const label = labelOf(request.label)
    owner.session.append('job/start', { id, kind, label })
    const job = new Job(id, label, request)
    owned.add(job)
    let isStarted = false
    job.start(run, () => this.over(job, owned, isStarted))
    isStarted = true
    return id
  }

  /** The owner's jobs that are kept, oldest first. */
  list(owner: JobOwner): readonly JobInfo[] {
    checkOwner(owner)
    return this.owners.get(owner.session)?.owned.jobs.map(({ info }) => info) ?? []
  }

  /** What is new of a job; it counts as read. @throws HarnessError `JOB_UNKNOWN`, `JOB_FOREIGN` */
  read(owner: JobOwner, id: string): JobReading {
    const { reading, accept } = this.look(owner, id)
    accept()
    return reading
  }

  /** What is new of a job; it counts as read once `accept` was called. @throws as {@link read} */
  look(owner: JobOwner, id: string): { readonly reading: JobReading; readonly accept: () => void } {
    const { job, owned } = this.find(owner, id)
    const { reading, accept } = job.look()
    return {
      reading,
      accept: () => {
        accept()
        owned.tidy()
      },
    }
  }

  /** Asks a job to end, and returns at once. One that has ended stays as it is. @throws as {@link read} */
  kill(owner: JobOwner, id: string, reason?: string): JobInfo {
    const { job } = this.find(owner, id)
    job.cancel(reason)
    return job.info
  }

  /**
   * Waits for the end of a job, not for its output.
   * Rejects as {@link read} throws, with `TIMEOUT_OUT_OF_RANGE`, and with the signal's reason; the job goes on.
   */
  async wait(
    owner: JobOwner,
    id: string,
    { timeoutMs, signal }: { readonly timeoutMs?: number | undefined; readonly signal?: AbortSignal | undefined } = {},
  ): Promise<JobInfo> {
    const { job } = this.find(owner, id)
    const limit = timeoutMs === undefined ? undefined : clampTimeout(timeoutMs, timeoutMs, MAX_TIMER_DELAY_MS)
    if (!job.hasEnded) await waitFor(job.ended, limit, signal)
    return job.info
  }

  /** Whether a job of the owner was read to its end. */
  isReadOut(owner: JobOwner, id: string): boolean {
    return this.owners.get(owner.session)?.owned.wasReadOut(id) ?? false
  }

  /** What runs, of all owners. */
  running(): readonly (JobInfo & { readonly owner: SessionId })[] {
    return this.active().map(({ info, owner }) => ({ ...info, owner: owner.id }))
  }

  /** Settles when no job runs that counts, those included that start meanwhile. Who is told of an end was told before. */
  async whenIdle(counts: (job: JobInfo & { readonly owner: SessionId }) => boolean = () => true): Promise<void> {
    const counting = (): readonly Job[] => this.active().filter(({ info, owner }) => counts({ ...info, owner: owner.id }))
    for (let jobs = counting(); jobs.length > 0; jobs = counting()) await Promise.all(jobs.map(({ ended }) => ended))
  }

  private active(): readonly Job[] {
    return Array.from(this.owners.values()).flatMap(({ owned }) => owned.active)
  }

  private find(owner: JobOwner, id: string): { readonly job: Job; readonly owned: OwnedJobs } {
    checkOwner(owner)
    const owned = this.owners.get(owner.session)?.owned ?? new OwnedJobs(owner)
    const isForeign = (): boolean => [...this.owners.values()].some((other) => other.owned !== owned && other.owned.has(id))
    return { job: owned.find(id, isForeign), owned }
  }

  private ownedBy(owner: JobOwner): OwnedJobs {
    const found = this.owners.get(owner.session)
    if (this.isClosed || found?.owned.isClosing === true) throw closed(owner)
    if (found !== undefined) return found.owned
    const owned = new OwnedJobs(owner)
    try {
      const release = owner.ctx.effect(
        () => async () => {
          await owned.close()
          this.owners.delete(owner.session)
        },
        'ctx.jobs: jobs of an owner',
      )
      this.owners.set(owner.session, { owned, release })
    } catch (cause) {
      throw closed(owner, cause)
    }
    return owned
  }

  private over(job: Job, owned: OwnedJobs, wasStarted: boolean): void {
    const { info, owner } = job
    try {
      owner.session.append('job/end', { id: info.id, status: info.status as 'completed' | 'failed' | 'killed' })
    } catch (error) {
      this.bus.root.logger('jobs').error('the end of job %s of %s could not be logged: %s', info.id, owner.id, messageOf(error))
    }
    owned.tidy()
    if (wasStarted && !owned.isClosing) emitContained(this.bus, null, 'jobs/end', [Object.freeze({ job: info, owner })])
  }
}

function closed(owner: JobOwner, cause?: unknown): HarnessError {
  return new HarnessError(`jobs: the service, or the owner "${owner.id}", is going: it starts no more jobs`, 'JOBS_CLOSED', { cause })
}
