import { resolve } from 'node:path'
import { AuditReport } from '../audit/audit-report.ts'
import { CompositionError } from '../load/faults.ts'
import type { SharedOptions } from './replay-command.ts'
import { GUARD_ROWS, type ReplayOptions, replayRows } from './replay-rows.ts'
import { run } from './run.ts'

export interface Replay extends SharedOptions {
  /** A file; `-` is standard input. */
  readonly transcript: string
  readonly guards: ReplayOptions
  readonly summaryOnly: boolean
  /** Told what the guards say of a configuration that came from the command line. */
  readonly refuse: (misuse: string) => never
}

/** Plays a transcript through the guards. Returns the exit code. */
export async function replay({ transcript, guards, summaryOnly, refuse, ...shared }: Replay): Promise<number> {
  const audit = new AuditReport(guards)
  try {
    const code = await run({ ...shared, file: resolve(transcript), rows: replayRows(transcript, guards), summaryOnly, audit })
    if (audit.calls === 0)
      shared.notes.say(
        `warning: ${transcript === '-' ? 'standard input' : transcript} holds no tool call, so there is nothing that a guard could say\n`,
      )
    return code
  } catch (error) {
    const misuse = refusedOptions(error)
    if (misuse === undefined) throw error
    return refuse(misuse)
  }
}

/** What guards say of a configuration that came from the command line; `undefined` for faults of any other kind. */
function refusedOptions(error: unknown): string | undefined {
  if (!(error instanceof CompositionError)) return undefined
  const refused = error.faults.filter(
    ({ row, error: thrown }) => row !== undefined && GUARD_ROWS.has(row) && thrown instanceof Error && thrown.name === 'ValidationError',
  )
  return refused.length === error.faults.length ? refused.map(({ cause }) => cause).join('\n') : undefined
}
