/** What is wrong with the value of each key, one sentence a fault; a value is checked only if it was given. */
const CHECKS: Readonly<Record<string, (key: string, value: unknown) => readonly string[]>> = {
  thresholds: thresholdFaults,
  include: patternFaults,
  exclude: patternFaults,
  argumentsPreviewChars: previewFaults,
}
const KEYS = Object.keys(CHECKS)

/** All faults of a configuration. Never throws for anything that YAML can hold. */
export function faultsOf(config: unknown): string[] {
  if (typeof config !== 'object' || config === null || Array.isArray(config)) {
    return [`the configuration must be a map with the keys ${listed(KEYS)}, got ${shown(config)}`]
  }
  return Object.entries(config).flatMap(([key, value]) => {
    if (!KEYS.includes(key)) return [`unknown key \`${cut(key)}\` (with the value ${shown(value)}): ${hint(key)}`]
    if (value === undefined) return []
    if (value === null) return [`\`${key}\` must not be null: give it a value, or leave the key out to get its default`]
    return (CHECKS[key] as (typeof CHECKS)[string])(key, value)
  })
}

function thresholdFaults(key: string, value: unknown): string[] {
  if (!Array.isArray(value)) return [`\`${key}\` must be a list in which each item is an integer >= 2, got ${shown(value)}`]
  if (value.length === 0) return [`\`${key}\` must not be empty: give at least one integer >= 2, or leave the key out to get its default`]
  const items: readonly unknown[] = value
  const faults = items.flatMap((item, index) =>
    isIntegerFrom(2, item) ? [] : [`\`${key}\` must hold only values that are an integer >= 2, got ${shown(item)} (at index ${index})`],
  )
  const twice = new Set(items.filter((item, index) => isIntegerFrom(2, item) && items.indexOf(item) < index))
  return twice.size === 0
    ? faults
    : [...faults, `\`${key}\` must not hold duplicates, got ${[...twice].map(shown).join(', ')} more than once`]
}

function patternFaults(key: string, value: unknown): string[] {
  if (!Array.isArray(value)) return [`\`${key}\` must be a list of patterns, got ${shown(value)}`]
  return (value as readonly unknown[]).flatMap((item, index) => {
    if (typeof item !== 'string') return [`\`${key}\` must hold only patterns, which are text, got ${shown(item)} (at index ${index})`]
    return item.trim() === '' ? [`each pattern of \`${key}\` must not be empty or blank, got ${shown(item)} (at index ${index})`] : []
  })
}

function previewFaults(key: string, value: unknown): string[] {
  return isIntegerFrom(1, value) ? [] : [`\`${key}\` must be an integer >= 1, got ${shown(value)}`]
}

function isIntegerFrom(least: number, value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= least
}

function hint(key: string): string {
  const [nearest] = KEYS.map((known) => ({ known, edits: edits(key.toLowerCase(), known.toLowerCase()) })).sort((a, b) => a.edits - b.edits)
  return nearest !== undefined && nearest.edits <= 1 + nearest.known.length / 4
    ? `did you mean \`${nearest.known}\`?`
    : `the keys are ${listed(KEYS)}`
}

/** How many characters must be put in, taken out, exchanged or swapped with their neighbour to get from `a` to `b`. */
function edits(a: string, b: string): number {
  const from = a.slice(0, 64)
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= from.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = from[i - 1] === b[j - 1]
      let least = Math.min((row[j - 1] as number) + 1, (last[j] as number) + 1, (last[j - 1] as number) + (same ? 0 : 1))
      if (i > 1 && j > 1 && from[i - 1] === b[j - 2] && from[i - 2] === b[j - 1]) least = Math.min(least, (before[j - 2] as number) + 1)
      row.push(least)
    }
    before = last
    last = row
  }
  return last[b.length] as number
}

function listed(keys: readonly string[]): string {
  return keys.map((key) => `\`${key}\``).join(', ')
}

const SHOWN_CHARS = 80

function shown(value: unknown): string {
  if (typeof value !== 'string' && (typeof value !== 'object' || value === null)) return cut(String(value))
  try {
    return cut(JSON.stringify(value))
  } catch {
    // YAML can make a list that holds itself.
    return 'what is no JSON'
  }
}

function cut(text: string): string {
  return text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text
}
