import { InvalidArgumentError } from 'commander'
import type { Counts } from '../show/tally.ts'

/** What a run may be told to fail on, for a build that must not loop or hang. */
export type Trouble = 'reminder' | 'timeout'

const NAMES: Readonly<Record<string, Trouble>> = { reminder: 'reminder', timeout: 'timeout', 'time-out': 'timeout' }

/** Reads `reminder,timeout`. @throws InvalidArgumentError */
export function parseTroubles(text: string): Trouble[] {
  return text.split(',').map((part) => {
    const name = part.trim()
    const trouble = Object.hasOwn(NAMES, name) ? NAMES[name] : undefined
    if (trouble === undefined) throw new InvalidArgumentError(`There is no "${name}"; the names are reminder, timeout.`)
    return trouble
  })
}

/** Whether any of them happened. */
export function happened(troubles: readonly Trouble[], { reminders, timeouts }: Counts): boolean {
  const counts: Readonly<Record<Trouble, number>> = { reminder: reminders, timeout: timeouts }
  return troubles.some((trouble) => counts[trouble] > 0)
}
