import { cut, show } from './show.ts'

const MAX_PATTERN = 256

/** What is wrong with the value of a key, one sentence a fault; a value is checked only if it was given. */
type Check = (key: string, value: unknown) => readonly string[]

/** The end of the sentence about an unknown key. */
export type KeyHint = (key: string, keys: readonly string[]) => string

/**
 * All faults of a configuration, one sentence each; none means that it is fine. Never throws for anything that YAML can hold.
 *
 * @param hint - ends the sentence about an unknown key; left out, it lists the keys.
 */
export type FaultFinder = (config: unknown, hint?: KeyHint) => string[]

/** @param checks - by key: the keys that there are. */
export function faultFinder(guard: string, checks: Readonly<Record<string, Check>>): FaultFinder {
  const keys = Object.keys(checks)
  const faults = (config: unknown, hint: KeyHint): string[] => {
    if (typeof config !== 'object' || config === null || Array.isArray(config)) {
      return [`the configuration must be a map with the keys ${listed(keys)}, got ${show(config)}`]
    }
    return Object.entries(config).flatMap(([key, value]) => {
      if (!keys.includes(key)) return [`unknown key \`${cut(key)}\` (with the value ${show(value)}): ${hint(key, keys)}`]
      if (value === undefined) return []
      if (value === null) return [`\`${key}\` must not be null: give it a value, or leave the key out to get its default`]
      return (checks[key] as Check)(key, value)
    })
  }
  return (config, hint = (_key, known) => `the keys are ${listed(known)}`) => faults(config, hint).map((fault) => `${guard}: ${fault}`)
}

/** @throws TypeError of that code that lists every fault, one a line. */
export function refuse(faults: readonly string[], code: string): void {
  if (faults.length > 0) throw Object.assign(new TypeError(faults.join('\n')), { code })
}

export function thresholdFaults(key: string, value: unknown): string[] {
  if (!Array.isArray(value)) return [`\`${key}\` must be a list in which each item is an integer >= 2, got ${show(value)}`]
  if (value.length === 0) return [`\`${key}\` must not be empty: give at least one integer >= 2, or leave the key out to get its default`]
  const items: readonly unknown[] = value
  const wrong = items.flatMap((item, index) =>
    isIntegerFrom(2, item) ? [] : [`\`${key}\` must hold only values that are an integer >= 2, got ${show(item)} (at index ${index})`],
  )
  const twice = new Set(items.filter((item, index) => isIntegerFrom(2, item) && items.indexOf(item) < index))
  return twice.size === 0 ? wrong : [...wrong, `\`${key}\` must not hold duplicates, got ${[...twice].map(show).join(', ')} more than once`]
}

/** What is wrong with a list of patterns, one sentence a fault; a value that is fine has none. */
export function patternFaults(key: string, value: unknown): string[] {
  if (!Array.isArray(value)) return [`\`${key}\` must be a list of patterns, got ${show(value)}`]
  return (value as readonly unknown[]).flatMap((item, index) => {
    if (typeof item !== 'string') return [`\`${key}\` must hold only patterns, which are text, got ${show(item)} (at index ${index})`]
    if (item.trim() === '') return [`each pattern of \`${key}\` must not be empty or blank, got ${show(item)} (at index ${index})`]
    return item.length <= MAX_PATTERN
      ? []
      : [`each pattern of \`${key}\` must have at most ${MAX_PATTERN} characters, got ${item.length}: ${show(item)} (at index ${index})`]
  })
}

export function previewFaults(key: string, value: unknown): string[] {
  return isIntegerFrom(1, value) ? [] : [`\`${key}\` must be an integer >= 1, got ${show(value)}`]
}

export function choiceFaults(...choices: readonly string[]): Check {
  return (key, value) =>
    choices.includes(value as string) ? [] : [`\`${key}\` must be ${choices.map(show).join(' or ')}, got ${show(value)}`]
}

export function flagFaults(key: string, value: unknown): string[] {
  return typeof value === 'boolean' ? [] : [`\`${key}\` must be true or false, got ${show(value)}`]
}

export function expressionFaults(key: string, value: unknown): string[] {
  if (typeof value !== 'string') return [`\`${key}\` must be the text of a regular expression, got ${show(value)}`]
  if (value.trim() === '') return [`\`${key}\` must not be empty or blank, got ${show(value)}`]
  try {
    new RegExp(value, 'm')
    return []
  } catch (error) {
    return [`\`${key}\` must be a regular expression, got ${show(value)}: ${(error as Error).message}`]
  }
}

function isIntegerFrom(least: number, value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= least
}

function listed(keys: readonly string[]): string {
  return keys.map((key) => `\`${key}\``).join(', ')
}
