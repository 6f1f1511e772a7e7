import { HarnessError, show } from '@loopguard/kit'
import type { ToolNameFilter } from './types.ts'

/** A filter with an identity of its own, so that one that is given twice is taken away once. @throws HarnessError `BAD_RESTRICTION` */
export function restriction(filter: ToolNameFilter): ToolNameFilter {
  if (typeof filter === 'function') return (name) => filter(name)
  throw new HarnessError(`tools: a restriction must be a function of a tool's name, got ${show(filter)}`, 'BAD_RESTRICTION')
}

/** Whether all filters let a name pass. Fails closed: a throw, or anything but `true`, does not. */
export function lets(filters: readonly ToolNameFilter[], name: string): boolean {
  try {
    return filters.every((filter) => (filter(name) as unknown) === true)
  } catch {
    return false
  }
}
