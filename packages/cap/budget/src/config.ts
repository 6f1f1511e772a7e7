import type { Plugin } from '@deepseek-ai/cordis'
import z from '@deepseek-ai/schemastery'
import { keyHint, show } from '@loopguard/kit'
import { type Matcher, patternFaults, toolMatcher } from '@loopguard/repeat'
import { type Limit, LIMITS, RULES, type SetLimit } from './limits.ts'

/** The plugin's name in a composition. */
export const name = 'budget'

/** How the cap is set: each limit is an integer >= 1, none is set by default, and at least one must be. */
export interface Config {
  /** Steps that one turn may have. */
  readonly maxStepsPerTurn?: number | undefined
  /** Tool calls that one turn may make, whatever becomes of them. */
  readonly maxCallsPerTurn?: number | undefined
  /** Tokens, input and output as the model reports them, after which a turn gets no further step. */
  readonly maxTokensPerTurn?: number | undefined
  /** Milliseconds that one turn may take. */
  readonly maxTurnMs?: number | undefined
  /** Steps that an agent may have in all its turns, also after a resume; so too the three below. */
  readonly maxStepsPerAgent?: number | undefined
  readonly maxCallsPerAgent?: number | undefined
  readonly maxTokensPerAgent?: number | undefined
  /** Milliseconds that the turns of an agent may take together. */
  readonly maxAgentMs?: number | undefined
  /** Equal calls that an agent may make in a row: the next one is denied. */
  readonly maxEqualCalls?: number | undefined
  /** Names of the tools whose calls count; `*` stands for any run of characters. Empty, the default, means all tools. */
  readonly include?: readonly string[] | undefined
  /** Names of tools whose calls neither count nor are denied, included or not. Default: none. */
  readonly exclude?: readonly string[] | undefined
}

/** A configuration, checked and compiled. */
export interface Settings {
  readonly limits: readonly SetLimit[]
  readonly include: readonly string[]
  readonly exclude: readonly string[]
  /** Whether calls of a tool count. */
  readonly tracks: Matcher
}

export function settingsOf(config: Config): Settings {
  const { include = [], exclude = [] } = config
  const limits = LIMITS.flatMap((limit) => {
    const value = config[limit]
    return value === undefined ? [] : [{ limit, value, ...RULES[limit] }]
  })
  return { limits, include, exclude, tracks: toolMatcher(include, exclude) }
}

const PATTERN_KEYS = ['include', 'exclude'] as const
const KEYS: readonly string[] = [...LIMITS, ...PATTERN_KEYS]

/** All that is wrong with a configuration, one sentence a fault. */
function faultsOf(config: unknown): string[] {
  if (typeof config !== 'object' || config === null || Array.isArray(config)) {
    return [`the configuration must be a map, got ${show(config)}`]
  }
  const given = Object.entries(config).filter(([, value]) => value !== undefined)
  if (!given.some(([key]) => LIMITS.includes(key as Limit))) {
    const limits = LIMITS.map((limit) => `\`${limit}\``).join(', ')
    const faults = given.flatMap(([key, value]) => faultsOfKey(key, value))
    return [...faults, `no limit is set, and a budget without one caps nothing: set at least one of ${limits}`]
  }
  return given.flatMap(([key, value]) => faultsOfKey(key, value))
}

function faultsOfKey(key: string, value: unknown): readonly string[] {
  if (!KEYS.includes(key)) return [`unknown key \`${key}\` (with the value ${show(value)})${keyHint(key, KEYS)}`]
  if (value === null) return [`\`${key}\` must not be null: give it a value, or leave the key out`]
  if (!LIMITS.includes(key as Limit)) return patternFaults(key, value)
  return Number.isSafeInteger(value) && (value as number) >= 1 ? [] : [`\`${key}\` must be a positive integer, got ${show(value)}`]
}

const limit = (description: string): z<number> => z.number().step(1).min(1).description(description)

const schema = z.object({
  maxStepsPerTurn: limit('Steps that one turn may have.'),
  maxCallsPerTurn: limit('Tool calls that one turn may make.'),
  maxTokensPerTurn: limit('Tokens after which a turn gets no further step.'),
  maxTurnMs: limit('Milliseconds that one turn may take.'),
  maxStepsPerAgent: limit('Steps that an agent may have in all its turns.'),
  maxCallsPerAgent: limit('Tool calls that an agent may make in all its turns.'),
  maxTokensPerAgent: limit('Tokens after which an agent gets no further step.'),
  maxAgentMs: limit('Milliseconds that the turns of an agent may take together.'),
  maxEqualCalls: limit('Equal calls that an agent may make in a row.'),
  include: z.array(z.string()).default([]).description('Patterns of the tools whose calls count; none means all.'),
  exclude: z.array(z.string()).default([]).description('Patterns of the tools whose calls are not seen at all.'),
})

/** Schemastery lets unknown keys and nulls pass and knows no rule about a configuration as a whole, so each is checked first. */
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
