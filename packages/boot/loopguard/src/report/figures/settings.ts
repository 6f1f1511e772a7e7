import type { AuditOptions } from '../../audit/audit.ts'

/** What a report is to look for, as its flags say. */
export interface ReportOptions extends AuditOptions {
  /** A result in which it finds something is that of a call that failed. */
  readonly errors?: string | undefined
}

const DEFAULT_THRESHOLDS: readonly number[] = [3, 5, 8]

/** In order. */
export function thresholdsOf({ thresholds = DEFAULT_THRESHOLDS }: ReportOptions): readonly number[] {
  return thresholds.toSorted((a, b) => a - b)
}

/** The least cap that is looked at first: at which the reminder would speak first. */
export function firstOf(options: ReportOptions): number {
  return thresholdsOf(options)[0] as number
}
