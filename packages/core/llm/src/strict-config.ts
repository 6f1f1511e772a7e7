/** The part of Standard Schema (https://standardschema.dev) that Cordis asks of a plugin's `Config`. */
interface Validatable {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => unknown
  }
}

/**
 * Makes a configuration schema refuse what it does not understand: something that is no map, an unknown key (with the nearest known
 * one as a hint) and an explicit `null`, all of which schemastery lets through. A missing configuration means all defaults.
 *
 * @param owner - the plugin, as messages name it.
 * @param keys - the known keys.
 */
export function strictConfig<T extends Validatable>(owner: string, schema: T, keys: readonly string[]): T {
  const { '~standard': standard } = schema
  const validate = (value: unknown): unknown => {
    if (value === undefined || value === null) return standard.validate({})
    const complaints = complain(owner, value, keys)
    return complaints.length > 0 ? { issues: complaints.map((message) => ({ message })) } : standard.validate(value)
  }
  return Object.defineProperty(schema, '~standard', { value: { ...standard, version: 1, vendor: standard.vendor, validate } })
}

function complain(owner: string, value: unknown, keys: readonly string[]): string[] {
  if (typeof value !== 'object' || Array.isArray(value)) return [`${owner}: the configuration must be a map, got ${shown(value)}`]
  return Object.entries(value as object).flatMap(([key, item]) => {
    if (!keys.includes(key)) return [`${owner}: unknown key \`${key}\`${hint(key, keys)}`]
    return item === null ? [`${owner}: \`${key}\` is null; leave it out to get its default`] : []
  })
}

/** How to go on after an unknown key: the nearest known one, or all of them. */
export function hint(key: string, keys: readonly string[]): string {
  if (keys.length === 0) return ', it takes no configuration'
  const [nearest] = keys.map((known) => ({ known, distance: distance(key, known) })).sort((a, b) => a.distance - b.distance)
  if (nearest !== undefined && nearest.distance <= 3) return `, did you mean \`${nearest.known}\`?`
  return `, expected ${keys.map((known) => `\`${known}\``).join(', ')}`
}

/** Levenshtein's edit distance, of the first 40 characters. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 0; i < Math.min(a.length, 40); i++) {
    const next = [i + 1]
    for (let j = 0; j < b.length; j++) {
      next.push(Math.min((next[j] ?? 0) + 1, (row[j + 1] ?? 0) + 1, (row[j] ?? 0) + (a[i] === b[j] ? 0 : 1)))
    }
    row = next
  }
  return row.at(-1) ?? 0
}

function shown(value: unknown): string {
  return JSON.stringify(value)?.slice(0, 100) ?? String(value)
}
