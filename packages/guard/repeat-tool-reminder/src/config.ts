import type { Plugin } from '@deepseek-ai/cordis'
import Schema from '@deepseek-ai/schemastery'
import { nearest } from '@loopguard/kit'
import { repeatConfigFaults, type RepeatConfig } from '@loopguard/repeat'

export const name = 'repeat-tool-reminder'

/** How the guard is set. No configuration, or a key left out or `undefined`, means the default; an unknown key and a `null` are refused. */
export type Config = RepeatConfig

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
    const faults = repeatConfigFaults(config, hint)
    return faults.length > 0 ? { issues: faults.map((message) => ({ message })) } : standard.validate(config)
  }
  return Object.defineProperty(lenient, '~standard', { value: { ...standard, validate } }) as never
}

function hint(key: string, keys: readonly string[]): string {
  const meant = nearest(key, keys)
  return meant === undefined ? `the keys are ${keys.map((known) => `\`${known}\``).join(', ')}` : `did you mean \`${meant}\`?`
}

export const Config: NonNullable<Plugin.Base<Config>['Config']> = strict(schema)
