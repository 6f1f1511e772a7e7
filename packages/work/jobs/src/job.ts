import { HarnessError, messageOf } from '@loopguard/kit'
import type { JobEnd, JobInfo, JobOutput, JobOwner, JobReading, JobRequest, JobRun, JobStatus } from './types.ts'

const OUTCOMES: readonly unknown[] = ['completed', 'failed', 'killed']

/** One job. The first end that it comes to stays. */
export class Job {
  readonly id: string
  readonly kind: string
  readonly label: string
  readonly owner: JobOwner
  /** Settles when it has ended. Never rejects. */
  readonly ended: Promise<void>
  private run: JobRun | undefined
  private end: JobEnd | undefined
  private isStopping = false
  private readTo = 0
  private ending!: () => void
  private isSpent = false

  constructor(id: string, label: string, { kind, owner }: JobRequest) {
    this.id = id
    this.kind = kind
    this.label = label
    this.owner = owner
    this.ended = new Promise((resolve) => (this.ending = resolve))
  }

  get status(): JobStatus {
    return this.end?.status ?? (this.isStopping ? 'stopping' : 'running')
  }

  get hasEnded(): boolean {
    return this.end !== undefined
  }

  /** Whether its end, and all that it printed, has been read. */
  get isReadOut(): boolean {
    return this.isSpent
  }

  get info(): JobInfo {
    const { id, kind, label, status, end } = this
    return Object.freeze({ id, kind, label, status, ...(end?.detail !== undefined && { detail: end.detail }) })
  }

  /** Starts the work. `over` is called once, when it has come to its end. @throws what the work throws; it has failed then. */
  start(work: JobRequest['run'], over: () => void): void {
    const finish = (end: JobEnd): void => {
      if (this.hasEnded) return
      this.end = end
      over()
      this.ending()
    }
    let run: JobRun
    try {
      run = checkedRun(work({ id: this.id }), this.id)
    } catch (error) {
      finish({ status: 'failed', detail: messageOf(error) })
      throw error
    }
    this.run = run
    void run.done.then(
      (end) => finish(checkedEnd(end)),
      (error: unknown) => finish({ status: 'failed', detail: messageOf(error) }),
    )
  }

  cancel(reason?: string): void {
    if (this.hasEnded || this.isStopping) return
    this.isStopping = true
    this.run?.cancel(reason)
  }

  /** What is new, and what says that it was read. Until then it stays new. */
  look(): { readonly reading: JobReading; readonly accept: () => void } {
    const { info, hasEnded } = this
    const { text, end, note } = this.outputFrom(this.readTo)
    const accept = (): void => {
      this.readTo = Math.max(this.readTo, end)
      this.isSpent ||= hasEnded
    }
    return { reading: Object.freeze({ ...info, output: text, ...(note !== undefined && { note }) }), accept }
  }

  private outputFrom(from: number): JobOutput {
    if (this.run?.readOutput !== undefined) return this.run.readOutput(from)
    const text = (this.end?.output ?? '').slice(from)
    return { text, end: from + text.length }
  }
}

function checkedRun(run: JobRun, id: string): JobRun {
  const { cancel, done } = Object(run) as Partial<JobRun>
  if (typeof cancel === 'function' && typeof done?.then === 'function') return run
  throw new HarnessError(`jobs: \`run\` of job "${id}" must return { cancel, done, readOutput? }`, 'BAD_JOB')
}

function checkedEnd(end: JobEnd): JobEnd {
  const { status, detail, output } = Object(end) as Partial<JobEnd>
  if (!OUTCOMES.includes(status)) return { status: 'failed', detail: `it ended with the status ${JSON.stringify(status) ?? 'undefined'}` }
  return { status: status as JobEnd['status'], detail: textOrNone(detail), output: textOrNone(output) }
}

const textOrNone = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
