import { keyHint } from './nearest.ts'

/** The part of Standard Schema (https://standardschema.dev) that Cordis asks of a plugin's `Config`. */
interface Validatable {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => unknown
  }
}

interface Issue {
  readonly message: string
  readonly path?: readonly PropertyKey[]
}

export interface Strictness {
  /** What else is wrong with a configuration, one sentence a fault, beyond what the schema says of each value. */
  readonly check?: (config: Readonly<Record<string, unknown>>) => readonly string[]
  /** Strict schemas of the items of lists, by key: a schema does not ask the strictness of one that it holds. */
  readonly items?: Readonly<Record<string, Validatable>>
}

/**
 * Makes a configuration schema refuse what it does not understand: something that is no map, an unknown key (with the nearest known
 * one as a hint) and an explicit `null`, all of which schemastery lets through. A missing configuration means all defaults.
 *
 * @param owner - the plugin, as messages name it.
 * @param keys - the known keys.
 */
export function strictConfig<T extends Validatable>(owner: string, schema: T, keys: readonly string[], more: Strictness = {}): T {
  const { '~standard': standard } = schema
  const validate = (value: unknown): unknown => {
    if (value === undefined || value === null) return standard.validate({})
    const issues = [...complain(owner, value, keys, more).map((message) => ({ message })), ...issuesOfItems(value, more)]
    return issues.length > 0 ? { issues } : standard.validate(value)
  }
  return Object.defineProperty(schema, '~standard', { value: { ...standard, version: 1, vendor: standard.vendor, validate } })
}

function complain(owner: string, value: unknown, keys: readonly string[], { check }: Strictness): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return [`${owner}: the configuration must be a map, got ${shown(value)}`]
  }
  const config = value as Readonly<Record<string, unknown>>
  const faults = Object.entries(config).flatMap(([key, item]) => {
    if (!keys.includes(key)) return [`${owner}: unknown key \`${key}\`${keyHint(key, keys)}`]
    return item === null ? [`${owner}: \`${key}\` is null; leave it out to get its default`] : []
  })
  return [...faults, ...(check?.(config) ?? []).map((fault) => `${owner}: ${fault}`)]
}

function issuesOfItems(config: unknown, { items = {} }: Strictness): Issue[] {
  return Object.entries(items).flatMap(([key, schema]) => {
    const list = (config as Readonly<Record<string, unknown>>)[key]
    return (Array.isArray(list) ? (list as unknown[]) : []).flatMap((item, index) => {
      // Nothing is no item, though it would be a configuration.
      const { issues = [] } = schema['~standard'].validate(item ?? 'nothing') as { readonly issues?: readonly Issue[] }
      return issues.map((issue) => ({ ...issue, path: [key, index, ...(issue.path ?? [])] }))
    })
  })
}

function shown(value: unknown): string {
  return JSON.stringify(value)?.slice(0, 100) ?? String(value)
}
