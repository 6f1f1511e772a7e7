import { isRecord } from './content.ts'

const TYPES = new Set<unknown>(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'])
/** A schema that nests deeper is left to the compiler, which may not get to its end. */
const MAX_DEPTH = 16

type Rule = (value: unknown, depth: number) => boolean

const anything: Rule = () => true
const text: Rule = (value) => typeof value === 'string'
const number: Rule = (value) => Number.isFinite(value)
const count: Rule = (value) => Number.isInteger(value) && (value as number) >= 0
const names: Rule = (value) => isSet(value, (name) => typeof name === 'string')
const scalars: Rule = (value) => isSet(value, (choice) => typeof choice !== 'object' || choice === null)
const schema: Rule = (value, depth) => typeof value === 'boolean' || isPlain(value, depth + 1)

/** What each keyword may hold in every draft. */
const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ['title', text],
  ['description', text],
  ['default', anything],
  ['const', anything],
  ['enum', (value, depth) => !isEmpty(value) && scalars(value, depth)],
  ['type', (value) => TYPES.has(value) || (!isEmpty(value) && isSet(value, (name) => TYPES.has(name)))],
  ['properties', (value, depth) => isRecord(value) && Object.values(value).every((each) => schema(each, depth))],
  ['required', names],
  ['additionalProperties', schema],
  ['items', schema],
  ['minimum', number],
  ['maximum', number],
  ['exclusiveMinimum', number],
  ['exclusiveMaximum', number],
  ['minLength', count],
  ['maxLength', count],
  ['minItems', count],
  ['maxItems', count],
])

/**
 * Whether a schema is valid in every draft, told without a compiler: it uses the common keywords alone, and uses them well. Most tools
 * have such a schema. Of any other this says nothing.
 *
 * @param parameters - must be JSON.
 */
export function isPlain(parameters: unknown, depth = 0): boolean {
  if (!isRecord(parameters) || depth > MAX_DEPTH) return false
  return Object.entries(parameters).every(([keyword, value]) => RULES.get(keyword)?.(value, depth) === true)
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}

function isSet(value: unknown, holds: (member: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(holds) && new Set(value).size === value.length
}
