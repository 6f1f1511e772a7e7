import { createRequire } from 'node:module'
import type { Ajv, ErrorObject, Options, ValidateFunction } from 'ajv'
import { HarnessError, messageOf, show } from '@loopguard/kit'
import { isPlain } from './plain-schema.ts'
import type { ToolParameters } from './types.ts'
import { violationsOf } from './violations.ts'

/** Checks arguments. Answers with the violations, in words that a model can act on; `undefined` when there is none. Never throws. */
type ArgumentsCheck = (args: unknown) => string | undefined

export interface CompiledSchema {
  readonly check: ArgumentsCheck
  /** Does now what the first check would do before it checks: it may load the compiler, which is not to count against a budget. */
  readonly prepare: () => void
}

/** Loaded when the first schema is compiled: the compilers are a hundred modules, and a registration needs none for a plain schema. */
const load = createRequire(import.meta.url)

interface Dialect {
  readonly draft: string
  readonly uri: RegExp
  readonly compiler: () => typeof Ajv
}

const LAST: Dialect = {
  draft: '2020-12',
  uri: /^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/,
  compiler: () => (load('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js')).Ajv2020,
}

/** The drafts that `$schema` may name; without one it is the last. */
const DIALECTS: readonly Dialect[] = [
  {
    draft: 'draft-07',
    uri: /^https?:\/\/json-schema\.org\/draft-07\/schema#?$/,
    compiler: () => (load('ajv') as typeof import('ajv')).Ajv,
  },
  {
    draft: '2019-09',
    uri: /^https?:\/\/json-schema\.org\/draft\/2019-09\/schema#?$/,
    compiler: () => (load('ajv/dist/2019.js') as typeof import('ajv/dist/2019.js')).Ajv2019,
  },
  LAST,
]

const OPTIONS: Options = {
  strict: false,
  allErrors: true,
  // The parts of the schema that a violation needs to be put into words.
  verbose: true,
  logger: false,
  validateFormats: false,
  // An inherited `constructor` or `toString` is no argument.
  ownProperties: true,
  // Patterns are Unicode ones; many in use are valid only as the older kind.
  code: { regExp: Object.assign(regExpOf, { code: 'new RegExp' }) },
}

function regExpOf(pattern: string, flags: string): RegExp {
  try {
    return new RegExp(pattern, flags)
  } catch {
    return new RegExp(pattern)
  }
}

const ACCEPT_ANYTHING: CompiledSchema = { check: () => undefined, prepare: () => {} }

/**
 * Compiles a JSON Schema; one that is plainly valid not before it is needed. Each gets a compiler of its own: an `$id` that two tools
 * share must not clash or leak from one to the other, and a tool that is gone must leave nothing in a cache.
 *
 * @param parameters - must be JSON.
 * @throws HarnessError `BAD_TOOL` for a draft that is not supported and for what does not compile; the message starts with `parameters`.
 */
export function compileSchema(parameters: ToolParameters): CompiledSchema {
  const { $schema, ...schema } = parameters
  const dialect = dialectOf($schema)
  if (Object.keys(schema).length === 0) return ACCEPT_ANYTHING
  if (schema['$async'] !== undefined) throw bad('must not be an asynchronous schema (`$async`)')
  let validate: ValidateFunction | undefined
  const compiled = (): ValidateFunction =>
    (validate ??= new (dialect.compiler())({ ...OPTIONS, validateSchema: false }).compile<unknown>(schema))
  if (!isPlain(schema)) {
    try {
      const meta = metaOf(dialect)
      if (meta.validateSchema(schema) !== true) throw new Error(meta.errorsText(meta.errors, { dataVar: 'parameters' }))
      compiled()
    } catch (thrown) {
      throw bad(`must be a JSON Schema: ${messageOf(thrown)}`, thrown)
    }
  }
  const check: ArgumentsCheck = (args) => {
    try {
      return violationsIn(compiled(), args)
    } catch (thrown) {
      return `arguments cannot be checked: ${thrown instanceof RangeError ? 'they nest too deeply' : messageOf(thrown)}`
    }
  }
  return { check, prepare: () => (validate === undefined ? void check(undefined) : undefined) }
}

function violationsIn(validate: ValidateFunction, args: unknown): string | undefined {
  try {
    return validate(args) === true ? undefined : violationsOf(args, (validate.errors ?? []) as ErrorObject[])
  } finally {
    // They hold on to the arguments.
    validate.errors = null
  }
}

function dialectOf($schema: unknown): Dialect {
  if ($schema === undefined) return LAST
  const known = typeof $schema === 'string' ? DIALECTS.find(({ uri }) => uri.test($schema)) : undefined
  if (known !== undefined) return known
  throw bad(`names the unsupported draft ${show($schema)} in $schema; supported are ${DIALECTS.map(({ draft }) => draft).join(', ')}`)
}

/** Compiling the schema of schemas takes tens of milliseconds, so it is done once for each draft, when first needed. */
const metas = new Map<Dialect, Ajv>()

function metaOf(dialect: Dialect): Ajv {
  let meta = metas.get(dialect)
  if (meta === undefined) metas.set(dialect, (meta = new (dialect.compiler())(OPTIONS)))
  return meta
}

function bad(message: string, cause?: unknown): HarnessError {
  return new HarnessError(`parameters ${message}`, 'BAD_TOOL', cause === undefined ? {} : { cause })
}
