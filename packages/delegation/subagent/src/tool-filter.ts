import { show } from '@loopguard/kit'
import { type Matcher, toolMatcher } from '@loopguard/repeat'

/** Which tools a child has, by name; `*` stands for any run of characters. `allow` keeps those alone, `deny` all others. */
export type ToolFilter = { readonly allow: readonly string[] } | { readonly deny: readonly string[] }

const NOTHING: Matcher = () => false

/** What is wrong with a filter, in a sentence about the key that holds it. */
export function faultOfFilter(filter: unknown, key = 'toolFilter'): string | undefined {
  if (filter === undefined) return undefined
  const wanted = `\`${key}\` must be { allow: […] } or { deny: […] }`
  if (typeof filter !== 'object' || filter === null || Array.isArray(filter)) return `${wanted}, got ${show(filter)}`
  const keys = Object.keys(filter)
  const [list, ...others] = keys
  if (list === undefined || others.length > 0 || (list !== 'allow' && list !== 'deny')) {
    return `${wanted}, got ${keys.length === 0 ? 'neither' : `the keys ${keys.map((each) => show(each)).join(', ')}`}`
  }
  const patterns = (filter as Readonly<Record<string, unknown>>)[list]
  if (!Array.isArray(patterns)) return `\`${key}.${list}\` must be a list of patterns, got ${show(patterns)}`
  const at = patterns.findIndex((pattern: unknown) => typeof pattern !== 'string' || pattern.trim() === '')
  return at < 0 ? undefined : `\`${key}.${list}\` must hold non-blank text only, got ${show(patterns[at])} (at index ${at})`
}

/** The names that a filter keeps; without one, all. */
export function keptBy(filter: ToolFilter = { deny: [] }): Matcher {
  if ('deny' in filter) return toolMatcher([], filter.deny)
  // Where nothing is included, everything is.
  return filter.allow.length === 0 ? NOTHING : toolMatcher(filter.allow, [])
}
