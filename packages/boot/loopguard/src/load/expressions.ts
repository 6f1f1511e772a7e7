import type { Entry } from '@deepseek-ai/cordis-plugin-loader'
import { isExpression, shown } from './row-keys.ts'

/** What is wrong with an expression (`!!js …`) of a row; its cause is what the expression threw, if it did. */
export class ExpressionError extends Error {
  constructor(key: string, expression: string, why: string, options?: ErrorOptions) {
    super(`\`${key}: !!js ${expression}\` ${why}`, options)
    this.name = 'ExpressionError'
  }
}

/** What `disabled` comes to: it may be an expression, which may fail, or come to text, which would count as true. */
export function isDisabled(entry: Entry): boolean | ExpressionError {
  const { disabled } = entry.options as { readonly disabled?: unknown }
  if (!isExpression(disabled)) return entry.disabled
  const value = valueOf(entry, 'disabled', disabled.__jsExpr)
  if (value instanceof ExpressionError) return value
  if (typeof value === 'boolean' || value === undefined || value === null) return entry.disabled
  return new ExpressionError('disabled', disabled.__jsExpr, `comes to ${shown(value)}: expected true or false`)
}

/** The expression in the row's configuration that throws what the row failed with; `undefined` when none does. */
export function failingExpression(entry: Entry, error: unknown): ExpressionError | undefined {
  for (const [key, value] of valuesIn(entry.options.config, 'config')) {
    if (!isExpression(value)) continue
    const failed = valueOf(entry, key, value.__jsExpr)
    if (failed instanceof ExpressionError && messageOf(failed.cause) === messageOf(error)) return failed
  }
  return undefined
}

/** Everything in a configuration that is no list and no map, expressions among it, by its path. */
export function* valuesIn(value: unknown, path: string): Generator<[path: string, value: unknown]> {
  if (typeof value !== 'object' || value === null || isExpression(value)) yield [path, value]
  else if (Array.isArray(value)) for (const [index, item] of value.entries()) yield* valuesIn(item, `${path}[${index}]`)
  else for (const [key, item] of Object.entries(value)) yield* valuesIn(item, `${path}.${key}`)
}

function valueOf(entry: Entry, key: string, expression: string): unknown {
  try {
    return entry.evaluate(expression) as unknown
  } catch (error) {
    return new ExpressionError(key, expression, `fails: ${messageOf(error)}`, { cause: error })
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
