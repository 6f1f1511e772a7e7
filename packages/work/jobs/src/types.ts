import type { Context } from '@deepseek-ai/cordis'
import type { SessionId } from '@loopguard/llm'
import type { Session } from '@loopguard/session'

/** Whose a job is. An agent of the loop is one. */
export interface JobOwner {
  readonly id: SessionId
  /** Its jobs go with the fiber of this context. */
  readonly ctx: Context
  /** Its jobs are counted, and logged, here. */
  readonly session: Session
}

/** How a job ended. `completed` says that it ran to its end, not that it did what was wanted. */
export type JobOutcome = 'completed' | 'failed' | 'killed'

export type JobStatus = 'running' | 'stopping' | JobOutcome

/** What `done` of a run resolves with. */
export interface JobEnd {
  readonly status: JobOutcome
  /** In a few words, for the status line: `exit code: 0`. */
  readonly detail?: string | undefined
  /** What there is to read at last, of a run that has no `readOutput`. */
  readonly output?: string | undefined
}

/** A piece of what a job has printed. */
export interface JobOutput {
  readonly text: string
  /** Where the next piece begins. */
  readonly end: number
  /** What there is to say about the piece, for the model: that its beginning is missing, and where to find it. */
  readonly note?: string | undefined
}

/** Work that has been started. */
export interface JobRun {
  /** Asks it to end, soon; `done` says when it has. Called once at most. */
  cancel(reason?: string): void
  /** A rejection counts as `failed`, with its message. */
  readonly done: Promise<JobEnd>
  /** What has come since `from`, the `end` of an earlier piece, or 0. It may be asked for the same piece again. */
  readOutput?(from: number): JobOutput
}

/** What a job is started with. */
export interface JobRequest {
  /** What the id begins with: small letters, digits and dashes. */
  readonly kind: string
  /** What it does, in a line. Shown on one line, at most 200 code points. */
  readonly label: string
  readonly owner: JobOwner
  /** Starts the work. Called at once, when the job stands in the log; a throw is the caller's, and ends the job as `failed`. */
  readonly run: (job: { readonly id: string }) => JobRun
}

/** A job, as it is now. */
export interface JobInfo {
  /** `<kind>-<n>`, counted for each session; never used again, also after a restart. */
  readonly id: string
  readonly kind: string
  readonly label: string
  readonly status: JobStatus
  readonly detail?: string
}

/** What a job has printed since it was read last. */
export interface JobReading extends JobInfo {
  readonly output: string
  readonly note?: string
}

declare module '@loopguard/session' {
  interface SessionEventMap {
    /** A job of this session's agent is about to start. */
    'job/start': { readonly id: string; readonly kind: string; readonly label: string }
    /** It has ended. */
    'job/end': { readonly id: string; readonly status: JobOutcome }
  }
}
