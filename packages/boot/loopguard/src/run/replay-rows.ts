import { resolve } from 'node:path'
import type { Row } from '../load/rows.ts'

export interface ReplayOptions {
  readonly thresholds?: readonly number[]
  readonly include?: readonly string[]
  readonly exclude?: readonly string[]
}

/** Id of the row whose configuration comes from the command line. */
export const REMINDER_ROW = 'repeat-tool-reminder'

/** The composition that plays a recorded conversation through both guards. */
export function replayRows(transcript: string, options: ReplayOptions): Row[] {
  return [
    { id: 'llm', name: '@loopguard/llm' },
    { id: 'session', name: '@loopguard/session' },
    { id: 'tools', name: '@loopguard/tools' },
    { id: 'timeout-policy', name: '@loopguard/timeout-policy' },
    { id: REMINDER_ROW, name: '@loopguard/repeat-tool-reminder', config: options },
    { id: 'agent-loop', name: '@loopguard/agent-loop' },
    { id: 'replay', name: '@loopguard/testkit/replay', config: { transcript: resolve(transcript) } },
  ]
}
