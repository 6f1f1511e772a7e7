export { Config } from './config.ts'
export { Jobs, Jobs as default } from './jobs.ts'
export type { JobEnd, JobInfo, JobOutcome, JobOutput, JobOwner, JobReading, JobRequest, JobRun, JobStatus } from './types.ts'
