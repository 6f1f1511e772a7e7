import { HarnessError, messageOf, nearest, snapshot, show } from '@loopguard/kit'
import { MAX_TIMER_DELAY_MS } from '@loopguard/timeout'
import { isRecord } from './content.ts'
import { type CompiledSchema, compileSchema } from './schema.ts'
import type { ToolDefinition, ToolRunContext, ToolSchema } from './types.ts'

/** Identity; infers the types of a definition. `Args` is what the body may rely on after `parameters` were checked. */
export function defineTool<Args = unknown>(definition: ToolDefinition<Args>): ToolDefinition<Args> {
  return definition
}

/** A definition as the pipeline relies on it: read once, at registration, so that a later change to the object changes nothing. */
export interface RegisteredTool extends CompiledSchema {
  readonly definition: ToolDefinition
  readonly schema: ToolSchema
  readonly concludesTurn: boolean
  run(args: unknown, exec: ToolRunContext): unknown
  /** Whether this call may overlap its neighbours: only if the definition's own answer is `true`; a throw means no. */
  isConcurrencySafe(args: unknown): boolean
}

/** @throws HarnessError `BAD_TOOL` that names the tool and what is wrong with it. */
export function registeredTool(definition: ToolDefinition): RegisteredTool {
  if (!isRecord(definition)) throw new HarnessError(`tools: a tool must be an object, got ${show(definition)}`, 'BAD_TOOL')
  const { name, description, parameters, execute, timeoutMs, concludesTurn, isConcurrencySafe } = definition as Fields
  if (typeof name !== 'string' || name.trim() === '') {
    throw new HarnessError(`tools: the \`name\` of a tool must be non-blank text, got ${show(name)}`, 'BAD_TOOL')
  }
  const bad = (field: string, wanted: string): HarnessError =>
    new HarnessError(`tools: tool ${show(name)}: \`${field}\` ${wanted}`, 'BAD_TOOL')
  if (typeof description !== 'string') throw bad('description', `must be text, got ${show(description)}`)
  if (typeof execute !== 'function') throw bad('execute', `must be a function, got ${show(execute)}`)
  if (timeoutMs !== undefined && !(typeof timeoutMs === 'number' && timeoutMs >= 1 && timeoutMs <= MAX_TIMER_DELAY_MS)) {
    throw bad('timeoutMs', `must be a finite number of milliseconds in 1…${MAX_TIMER_DELAY_MS}, got ${show(timeoutMs)}`)
  }
  if (concludesTurn !== undefined && typeof concludesTurn !== 'boolean') {
    throw bad('concludesTurn', `must be true or false, got ${show(concludesTurn)}`)
  }
  if (isConcurrencySafe !== undefined && typeof isConcurrencySafe !== 'function') {
    throw bad('isConcurrencySafe', `must be a function, got ${show(isConcurrencySafe)}`)
  }
  const [misspelt, meant] = misspeltIn(definition)
  if (misspelt !== undefined) throw bad(misspelt, `is unknown, did you mean \`${meant}\`?`)
  if (!isRecord(parameters)) throw bad('parameters', `must be a JSON Schema object, got ${show(parameters)}`)

  try {
    const frozen = snapshot(parameters, 'parameters')
    return {
      definition,
      schema: snapshot({ name, description, parameters: frozen }),
      concludesTurn: concludesTurn === true,
      ...compileSchema(frozen),
      run: (args, exec) => Reflect.apply(execute, definition, [args, exec]),
      isConcurrencySafe: (args) =>
        isConcurrencySafe !== undefined && asksTrue(() => Reflect.apply(isConcurrencySafe, definition, [args]) as unknown),
    }
  } catch (thrown) {
    throw new HarnessError(`tools: tool ${show(name)}: ${messageOf(thrown)}`, 'BAD_TOOL', { cause: thrown })
  }
}

const OPTIONAL = ['timeoutMs', 'concludesTurn', 'isConcurrencySafe']

/** A key that was meant for an optional one, and would be left out in silence. What else a definition holds is its affair, as are the fields of a class. */
function misspeltIn(definition: object): readonly [] | readonly [key: string, meant: string] {
  const prototype: unknown = Object.getPrototypeOf(definition)
  const isPlain = prototype === Object.prototype || prototype === null
  for (const key of isPlain ? Object.keys(definition) : []) {
    const meant = OPTIONAL.includes(key) ? undefined : nearest(key, OPTIONAL)
    if (meant !== undefined) return [key, meant]
  }
  return []
}

/** A definition before anything is known of it. */
type Fields = Readonly<Record<keyof ToolDefinition, unknown>>

function asksTrue(ask: () => unknown): boolean {
  try {
    const answer = ask()
    if (answer === true) return true
    // A promise is no answer, and its rejection must not stay unhandled.
    void Promise.resolve(answer).catch(() => {})
    return false
  } catch {
    return false
  }
}
