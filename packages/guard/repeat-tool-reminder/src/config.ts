import type { Plugin } from '@deepseek-ai/cordis'
import Schema from '@deepseek-ai/schemastery'
import { faultsOf } from './config-faults.ts'
import { type Matcher, trackerOf } from './pattern.ts'

export const name = 'repeat-tool-reminder'

/** How the guard is set. No configuration, or a key left out or `undefined`, means the default; an unknown key and a `null` are refused. */
export interface Config {
  /** Run lengths at which the model is reminded: integers >= 2, at least one, none twice, in any order. Default `[3, 5, 8]`. */
  readonly thresholds?: readonly number[]
  /** Names of the tools whose calls count; `*` stands for any run of characters. Empty, the default, means all tools. */
  readonly include?: readonly string[]
  /** Names of tools whose calls neither count nor end a run, included or not. Default: none. */
  readonly exclude?: readonly string[]
  /** How many code points of the arguments a detailed reminder shows: an integer >= 1. Default `500`. */
  readonly argumentsPreviewChars?: number
}

/** A configuration, checked and compiled. */
export interface Settings {
  readonly thresholds: ReadonlySet<number>
  readonly first: number
  readonly tracks: Matcher
  readonly previewChars: number
}

const schema = Schema.object({
  thresholds: Schema.array(Schema.number().step(1).min(2)).default([3, 5, 8]).description('Run lengths at which the model is reminded.'),
  include: Schema.array(Schema.string()).default([]).description('Patterns of the tools whose calls count; none means all.'),
  exclude: Schema.array(Schema.string()).default([]).description('Patterns of the tools whose calls are not seen at all.'),
  argumentsPreviewChars: Schema.number().step(1).min(1).default(500).description('Code points of the arguments that a reminder shows.'),
})

/** Schemastery lets unknown keys and nulls pass and knows no rule about a list as a whole, so each value is checked first. */
function strict(lenient: typeof schema): NonNullable<Plugin.Base<Config>['Config']> {
  const standard = lenient['~standard']
  const validate: typeof standard.validate = (value) => {
    const config = value ?? {}
    const faults = faultsOf(config)
    return faults.length > 0 ? { issues: faults.map((fault) => ({ message: `${name}: ${fault}` })) } : standard.validate(config)
  }
  return Object.defineProperty(lenient, '~standard', { value: { ...standard, validate } }) as never
}

export const Config: NonNullable<Plugin.Base<Config>['Config']> = strict(schema)

/** @throws TypeError `REPEAT_TOOL_REMINDER_CONFIG` that lists every fault. */
export function settingsOf(config: unknown): Settings {
  const { issues, value } = Config['~standard'].validate(config) as { issues?: readonly { message: string }[]; value: Required<Config> }
  if (issues !== undefined) {
    throw Object.assign(new TypeError(issues.map(({ message }) => message).join('\n')), { code: 'REPEAT_TOOL_REMINDER_CONFIG' })
  }
  return {
    thresholds: new Set(value.thresholds),
    first: Math.min(...value.thresholds),
    tracks: trackerOf(value.include, value.exclude),
    previewChars: value.argumentsPreviewChars,
  }
}
