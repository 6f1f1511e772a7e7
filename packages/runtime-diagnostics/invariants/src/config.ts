import Schema from '@deepseek-ai/schemastery'
import { compile, LISTS } from './selection.ts'

/** Which packages are checked. An unknown key and an explicit `null` are refused, as is a list entry that is no use as a pattern. */
export interface Config {
  /** Master switch; `true` by default. */
  readonly enabled?: boolean
  /** Regular-expression sources, unanchored and case-sensitive. Empty, the default, admits every package. */
  readonly package_allowlist?: readonly string[]
  /** Regular-expression sources, unanchored and case-sensitive. What one of them matches is left out, admitted or not. */
  readonly package_blocklist?: readonly string[]
}

const fields = {
  enabled: Schema.boolean().default(true),
  package_allowlist: Schema.array(Schema.string()).default([]),
  package_blocklist: Schema.array(Schema.string()).default([]),
}

export const Config: Schema<Config> = strict(Schema.object(fields) as Schema<Config>)

/** Schemastery keeps unknown keys and takes a null for "the default"; both would be a silent fall-back. */
function strict(schema: Schema<Config>): Schema<Config> {
  const standard = schema['~standard']
  const validate: typeof standard.validate = (value, options) => {
    const faults = faultsOf(value)
    return faults.length > 0 ? { issues: faults.map((message) => ({ message })) } : standard.validate(value, options)
  }
  return Object.defineProperty(schema, '~standard', { value: { ...standard, validate } })
}

function faultsOf(config: unknown): string[] {
  // No config at all means the defaults; what is no object, the schema refuses.
  if (typeof config !== 'object' || config === null) return []
  const known = Object.keys(fields)
  const given = new Map<string, unknown>(Object.entries(config))
  return [
    ...[...given.keys()]
      .filter((key) => !known.includes(key))
      .map((key) => `unknown key ${JSON.stringify(key)}, expected one of ${known.join(', ')}`),
    ...known.filter((key) => given.get(key) === null).map((key) => `${key} must not be null: leave the key out for its default`),
    ...LISTS.flatMap((list) => {
      const sources = given.get(list)
      return Array.isArray(sources) ? compile(list, sources).faults : []
    }),
  ]
}
