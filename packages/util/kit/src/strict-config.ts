import { keyHint } from './nearest.ts'

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
    if (!keys.includes(key)) return [`${owner}: unknown key \`${key}\`${keyHint(key, keys)}`]
    return item === null ? [`${owner}: \`${key}\` is null; leave it out to get its default`] : []
  })
}

function shown(value: unknown): string {
  return JSON.stringify(value)?.slice(0, 100) ?? String(value)
}
