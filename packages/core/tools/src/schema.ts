import { Ajv, type ErrorObject, type Options } from 'ajv'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { HarnessError, messageOf, show } from '@loopguard/kit'
import type { ToolParameters } from './types.ts'
import { violationsOf } from './violations.ts'

/** Checks arguments. Answers with the violations, in words that a model can act on; `undefined` when there is none. Never throws. */
export type ArgumentsCheck = (args: unknown) => string | undefined

type Dialect = typeof Ajv | typeof Ajv2019 | typeof Ajv2020

/** The drafts that `$schema` may name; without one it is the last. */
const DIALECTS: readonly (readonly [draft: string, uri: RegExp, dialect: Dialect])[] = [
  ['draft-07', /^https?:\/\/json-schema\.org\/draft-07\/schema#?$/, Ajv],
  ['2019-09', /^https?:\/\/json-schema\.org\/draft\/2019-09\/schema#?$/, Ajv2019],
  ['2020-12', /^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/, Ajv2020],
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

const acceptAnything: ArgumentsCheck = () => undefined

/**
 * Compiles a JSON Schema. Each gets a compiler of its own: an `$id` that two tools share must not clash or leak from one to the
 * other, and a tool that is gone must leave nothing in a cache.
 *
 * @param parameters - must be JSON.
 * @throws HarnessError `BAD_TOOL` for a draft that is not supported and for what does not compile; the message starts with `parameters`.
 */
export function compileSchema(parameters: ToolParameters): ArgumentsCheck {
  const { $schema, ...schema } = parameters
  const dialect = dialectOf($schema)
  if (Object.keys(schema).length === 0) return acceptAnything
  if (schema['$async'] !== undefined) throw bad('must not be an asynchronous schema (`$async`)')
  try {
    const meta = metaOf(dialect)
    if (meta.validateSchema(schema) !== true) throw new Error(meta.errorsText(meta.errors, { dataVar: 'parameters' }))
    const validate = new dialect({ ...OPTIONS, validateSchema: false }).compile(schema)
    return (args) => {
      try {
        return validate(args) === true ? undefined : violationsOf(args, (validate.errors ?? []) as ErrorObject[])
      } catch (thrown) {
        return `arguments cannot be checked: ${thrown instanceof RangeError ? 'they nest too deeply' : messageOf(thrown)}`
      } finally {
        // They hold on to the arguments.
        validate.errors = null
      }
    }
  } catch (thrown) {
    throw bad(`must be a JSON Schema: ${messageOf(thrown)}`, thrown)
  }
}

function dialectOf($schema: unknown): Dialect {
  if ($schema === undefined) return Ajv2020
  const known = typeof $schema === 'string' ? DIALECTS.find(([, uri]) => uri.test($schema)) : undefined
  if (known !== undefined) return known[2]
  throw bad(`names the unsupported draft ${show($schema)} in $schema; supported are ${DIALECTS.map(([draft]) => draft).join(', ')}`)
}

/** Compiling the schema of schemas takes tens of milliseconds, so it is done once for each draft, when first needed. */
const metas = new Map<Dialect, Ajv | Ajv2019 | Ajv2020>()

function metaOf(dialect: Dialect): Ajv | Ajv2019 | Ajv2020 {
  let meta = metas.get(dialect)
  if (meta === undefined) metas.set(dialect, (meta = new dialect(OPTIONS)))
  return meta
}

function bad(message: string, cause?: unknown): HarnessError {
  return new HarnessError(`parameters ${message}`, 'BAD_TOOL', cause === undefined ? {} : { cause })
}
