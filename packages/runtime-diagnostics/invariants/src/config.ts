import Schema from '@deepseek-ai/schemastery'
import { strictConfig } from '@loopguard/kit'
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

export const Config: Schema<Config> = strictConfig('invariants', Schema.object(fields) as Schema<Config>, Object.keys(fields), {
  check: (config) =>
    LISTS.flatMap((list) => {
      const sources = config[list]
      return Array.isArray(sources) ? compile(list, sources).faults : []
    }),
})
