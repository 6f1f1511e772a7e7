import type { JobEnd, JobRun } from '@loopguard/jobs'
import { truncationNote } from './truncation-note.ts'
import type { ShellEnd, ShellProcess } from './types.ts'

/** A command in the background as a job sees it. */
export function runOf(process: ShellProcess): JobRun {
  return {
    cancel: () => process.kill(),
    done: process.done.then(endOf),
    readOutput(from) {
      const { text, end, truncated } = process.readOutput(from)
      return { text, end, note: truncated === undefined ? undefined : truncationNote(truncated) }
    },
  }
}

/** A command that exits has completed, with any code; one that a signal ends which the job did not ask for has failed. */
function endOf({ exitCode, signal, killed }: ShellEnd & { readonly killed: boolean }): JobEnd {
  const detail = signal === null ? `exit code: ${exitCode}` : `signal: ${signal}`
  return { status: killed ? 'killed' : signal === null ? 'completed' : 'failed', detail }
}
