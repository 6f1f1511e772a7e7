import type { ErrorObject } from 'ajv'
import { clip, show } from '@loopguard/kit'

const MAX_VIOLATIONS = 8
const MAX_LINE = 240

/** Puts what a schema found wrong into words that name the place, what is wanted and what was seen. Bounded, however much is wrong. */
export function violationsOf(args: unknown, errors: readonly ErrorObject[]): string {
  const lines = new Set<string>()
  let left = 0
  for (const error of errors) {
    if (lines.size < MAX_VIOLATIONS) lines.add(clip(`${placeOf(args, error.instancePath)} ${wordsOf(error)}`, MAX_LINE))
    else left++
  }
  const text = [...lines].join('; ')
  return left === 0 ? text : `${text}; and ${left} more`
}

function wordsOf({ keyword, params, data, parentSchema, message }: ErrorObject): string {
  switch (keyword) {
    case 'required':
    case 'dependentRequired':
    case 'dependencies':
      return `must have the property ${show(params['missingProperty'])}`
    case 'additionalProperties':
      return unknownProperty(params['additionalProperty'], parentSchema)
    case 'unevaluatedProperties':
      return unknownProperty(params['unevaluatedProperty'], parentSchema)
    case 'type':
      return `must be ${listOf(params['type'])}, got ${seen(data)}`
    case 'enum':
      return `must be one of ${(params['allowedValues'] as unknown[]).map(json).join(', ')}, got ${seen(data)}`
    case 'const':
      return `must be ${json(params['allowedValue'])}, got ${seen(data)}`
    case 'propertyNames':
      return `has the property name ${show(params['propertyName'])}, which is not allowed`
    default:
      return `${message ?? `must satisfy ${keyword}`}, got ${seen(data)}`
  }
}

function unknownProperty(name: unknown, parentSchema: ErrorObject['parentSchema']): string {
  const properties: unknown = parentSchema?.['properties']
  const known = typeof properties === 'object' && properties !== null ? Object.keys(properties) : []
  return `must not have the property ${show(name)}${known.length === 0 ? '' : ` (allowed: ${known.map(show).join(', ')})`}`
}

function listOf(types: unknown): string {
  return Array.isArray(types) ? types.join(' or ') : String(types)
}

/** Text where something else is wanted is mostly JSON that was encoded twice, or was none. */
function seen(data: unknown): string {
  return typeof data === 'string' ? `the text ${show(data)}` : show(data)
}

function json(value: unknown): string {
  return typeof value === 'object' && value !== null ? clip(JSON.stringify(value), 80) : show(value)
}

const PLAIN_KEY = /^[A-Za-z_$][\w$]*$/

/** A JSON pointer as a path: `/list/0/a b` is `arguments.list[0]["a b"]`. */
function placeOf(args: unknown, pointer: string): string {
  let path = 'arguments'
  let at: unknown = args
  for (const step of pointer.split('/').slice(1)) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~')
    path += Array.isArray(at) ? `[${key}]` : PLAIN_KEY.test(key) ? `.${clip(key, 40)}` : `[${show(key)}]`
    at = (at as Record<string, unknown> | undefined)?.[key]
  }
  return path.length > 160 ? `…${path.slice(-120).replace(/^[\uDC00-\uDFFF]/, '')}` : path
}
