import type { Plugin } from '@deepseek-ai/cordis'
import type Schema from '@deepseek-ai/schemastery'
import { nearest } from '@loopguard/kit/nearest'
import type { FaultFinder } from '@loopguard/repeat'

/** Schemastery lets unknown keys and nulls pass and knows no rule about a list as a whole, so each value is checked first. */
export function strictSchema<Config>(lenient: Schema, faultsOf: FaultFinder): NonNullable<Plugin.Base<Config>['Config']> {
  const standard = lenient['~standard']
  const validate: typeof standard.validate = (value) => {
    const config: unknown = value ?? {}
    const faults = faultsOf(config, hint)
    return faults.length > 0 ? { issues: faults.map((message) => ({ message })) } : standard.validate(config)
  }
  return Object.defineProperty(lenient, '~standard', { value: { ...standard, validate } }) as never
}

function hint(key: string, keys: readonly string[]): string {
  const meant = nearest(key, keys)
  return meant === undefined ? `the keys are ${keys.map((known) => `\`${known}\``).join(', ')}` : `did you mean \`${meant}\`?`
}
