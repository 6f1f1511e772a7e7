import { keyHint, show } from '@loopguard/kit'
import { KINDS } from './kinds.ts'
import { isCredentialHeader, looksLikeKey } from './redact.ts'

/** The longest time that a timer can hold. */
export const MAX_IDLE_MS = 2_147_483_647
/** The keys of a row. */
export const KEYS: readonly string[] = [
  'provider',
  'kind',
  'package',
  'factory',
  'baseURL',
  'apiKeyEnv',
  'headers',
  'idleTimeoutMs',
  'providerOptions',
  'sendReasoning',
]

type Raw = Readonly<Record<string, unknown>>

/** All that is wrong; the schema's own messages print what they refuse, which may be a key. */
export function faultsOf(config: Raw): string[] {
  const keys = Object.keys(config).filter((key) => !KEYS.includes(key) && /key|token|secret|password/i.test(key))
  return [
    ...keys.map(
      (key) => `\`${key}\`: a key has no place in a composition; put it into an environment variable, and its name into \`apiKeyEnv\``,
    ),
    ...['provider', 'package', 'factory'].flatMap((key) => textFault(config, key)),
    ...kindFaults(config),
    ...urlFaults(config['baseURL']),
    ...variableFaults(config['apiKeyEnv']),
    ...headerFaults(config['headers']),
    ...optionFaults(config['providerOptions']),
    ...numberFaults(config),
  ]
}

/** A value, unless it looks like a key. */
function safe(value: unknown): string {
  return looksLikeKey(typeof value === 'string' ? value : (JSON.stringify(value) ?? '')) ? 'what looks like a key (not shown)' : show(value)
}

function textFault(config: Raw, key: string): string[] {
  const value = config[key]
  if (value === undefined) return key === 'provider' ? ['`provider` is missing: it is what agents name'] : []
  if (typeof value === 'string' && value.trim() !== '' && !looksLikeKey(value)) return []
  return [`\`${key}\` must be a name, got ${safe(value)}`]
}

function kindFaults({ kind, package: name, factory, baseURL, apiKeyEnv }: Raw): string[] {
  const known = Object.keys(KINDS)
  if (kind === undefined) {
    if (name === undefined || factory === undefined)
      return [`a row needs a \`kind\` (${known.join(', ')}), or both a \`package\` and its \`factory\``]
    return baseURL === undefined || apiKeyEnv === undefined
      ? ['a `package` needs a `baseURL` and an `apiKeyEnv`: its own defaults are not used']
      : []
  }
  if (name !== undefined || factory !== undefined) return ['a row has either a `kind`, or a `package` and its `factory`']
  if (typeof kind !== 'string' || !known.includes(kind))
    return [`\`kind\` must be one of ${known.join(', ')}, got ${safe(kind)}${typeof kind === 'string' ? keyHint(kind, known) : ''}`]
  return kind === 'openai-compatible' && baseURL === undefined
    ? ['`kind: openai-compatible` needs a `baseURL`, such as http://127.0.0.1:11434/v1']
    : []
}

function urlFaults(value: unknown): string[] {
  if (value === undefined) return []
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) return [`\`baseURL\` must be an http or https URL, got ${safe(value)}`]
  if (url.username !== '' || url.password !== '') return [`\`baseURL\` must hold no user or password; it names the host ${url.host}`]
  return url.search === '' && url.hash === '' && !looksLikeKey(url.pathname)
    ? []
    : [`\`baseURL\` must end with its path, as paths are added to it; it names the host ${url.host}`]
}

/** Whatever does not look like the name of a variable may be the key itself, so it is not shown. */
function variableFaults(value: unknown): string[] {
  if (value === undefined || (typeof value === 'string' && /^[A-Z_][A-Z0-9_]*$/.test(value))) return []
  return ['`apiKeyEnv` must be the name of an environment variable, such as MY_API_KEY; what is there is not shown, as it may be a key']
}

function headerFaults(value: unknown): string[] {
  if (value === undefined) return []
  if (!isMap(value)) return [`\`headers\` must be a map of names to text, got ${safe(value)}`]
  return Object.entries(value).flatMap(([name, text]) => {
    if (looksLikeKey(name) || !/^[\w!#$%&'*+.^`|~-]+$/.test(name)) return [`\`headers\` holds ${safe(name)}, which is no name of a header`]
    if (isCredentialHeader(name))
      return [`\`headers.${name}\` may hold no credentials; put the key into an environment variable, and its name into \`apiKeyEnv\``]
    if (typeof text !== 'string' || !/^[\t\x20-\x7e]*$/.test(text))
      return [`\`headers.${name}\` must be text of printable characters, got ${typeof text === 'string' ? 'others' : show(text)}`]
    return looksLikeKey(text) || /^(?:bearer|basic)\s/i.test(text) ? [`\`headers.${name}\` holds what looks like a key`] : []
  })
}

function optionFaults(value: unknown): string[] {
  if (value === undefined) return []
  if (!isMap(value)) return [`\`providerOptions\` must be a map of families, got ${safe(value)}`]
  const flat = Object.entries(value).flatMap(([family, options]) =>
    isMap(options) ? [] : [`\`providerOptions.${family}\` must be a map of options, got ${safe(options)}`],
  )
  return looksLikeKey(JSON.stringify(value)) ? [...flat, '`providerOptions` holds what looks like a key'] : flat
}

function numberFaults({ idleTimeoutMs: idle, sendReasoning: send }: Raw): string[] {
  const isIdle = idle === undefined || (Number.isInteger(idle) && (idle as number) >= 1 && (idle as number) <= MAX_IDLE_MS)
  return [
    ...(isIdle ? [] : [`\`idleTimeoutMs\` must be an integer from 1 to ${MAX_IDLE_MS}, got ${safe(idle)}`]),
    ...(send === undefined || typeof send === 'boolean' ? [] : [`\`sendReasoning\` must be true or false, got ${safe(send)}`]),
  ]
}

function isMap(value: unknown): value is Raw {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
