import { resolve } from 'node:path'
import type { AuditOptions } from '../audit/audit.ts'
import type { Row } from '../load/rows.ts'

export interface ReplayOptions extends AuditOptions {
  readonly errors?: string | undefined
}

/** Ids of the rows whose configuration comes from the command line. */
export const GUARD_ROWS: ReadonlySet<string> = new Set(['repeat-tool-reminder', 'repeated-failure-reminder'])

/** The composition that plays a recorded conversation through the guards. */
export function replayRows(transcript: string, { thresholds, include, exclude, guards, results, errors }: ReplayOptions): Row[] {
  const configs = {
    'repeat-tool-reminder': { thresholds, include, exclude, results },
    'repeated-failure-reminder': { include, exclude },
  }
  const reminders = Object.entries(configs).filter(([name]) => guards === undefined || guards.some((guard) => guard === name))
  return [
    { id: 'llm', name: '@loopguard/llm' },
    { id: 'session', name: '@loopguard/session' },
    { id: 'tools', name: '@loopguard/tools' },
    { id: 'timeout-policy', name: '@loopguard/timeout-policy' },
    ...reminders.map(([id, config]) => ({ id, name: `@loopguard/${id}`, config })),
    { id: 'agent-loop', name: '@loopguard/agent-loop' },
    {
      id: 'replay',
      name: '@loopguard/testkit/replay',
      config: { transcript: transcript === '-' ? transcript : resolve(transcript), ...(errors !== undefined && { errors }) },
    },
  ]
}
