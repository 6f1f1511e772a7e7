import type { Context, Fiber } from '@deepseek-ai/cordis'
import type { Entry } from '@deepseek-ai/cordis-plugin-loader'
import { explain } from './explain.ts'
import { ExpressionError, failingExpression, isDisabled } from './expressions.ts'
import { CompositionError, type Fault } from './faults.ts'
import type { RowLoader } from './row-loader.ts'
import { placeOfRow } from './rows.ts'

/** Names of Cordis' fiber states by number; the enum itself does not exist at run time. */
const STATES = ['pending', 'loading', 'active', 'failed', 'disposed', 'unloading'] as const

const BEHIND = 'did not start: rows start in order, and one before it is not there yet'
const MAX_BEHIND = 10

/** Finds every row that is not active, once the loader has nothing more to do or was given up on after `waitedMs`. */
export async function audit(loader: RowLoader, waitedMs: number | undefined): Promise<Fault[]> {
  const faults = await Promise.all([...loader.entries()].map((entry) => faultsOf(loader, entry, waitedMs)))
  return shortened(faults.flat(), loader.left)
}

/** What a fault of a row is told with: its place, its id and what it names. */
export function subjectOf(entry: Entry): Pick<Fault, 'place' | 'row' | 'package'> {
  return { place: placeOf(entry), row: entry.id, package: entry.options.name }
}

async function faultsOf(loader: RowLoader, entry: Entry, waitedMs: number | undefined): Promise<Fault[]> {
  const { fiber } = entry
  const fault = (cause: string, error?: unknown): Fault[] => [{ ...subjectOf(entry), cause, ...(error !== undefined && { error }) }]
  const off = isDisabled(entry)
  if (off instanceof ExpressionError) return fault(off.message, off.cause)
  if (fiber === undefined) {
    if (off) return []
    const failure = loader.failureOf(entry)
    if (failure !== undefined) return fault(explain(failure), failure)
    return fault(loader.isImported(entry) ? BEHIND : `still being imported after ${waitedMs ?? 0} ms`)
  }
  switch (STATES[fiber.state]) {
    case 'active':
      return []
    case 'failed': {
      const error: unknown = await fiber.await().then(
        () => undefined,
        (reason: unknown) => reason,
      )
      const expression = failingExpression(entry, error)
      if (expression !== undefined) return fault(expression.message, error)
      return error instanceof CompositionError ? error.faults.map((inner) => within(entry, inner, error)) : fault(explain(error), error)
    }
    case 'pending':
      return fault(missing(fiber))
    case 'disposed':
      return fault('disposed itself while it was loading')
    case 'loading':
    case 'unloading':
    default:
      return fault(`still ${STATES[fiber.state]} after ${waitedMs ?? 0} ms: its apply() has not settled`)
  }
}

/** A fault in the rows that a row includes. */
function within(entry: Entry, { place, row, package: name, cause }: Fault, error: unknown): Fault {
  const subject = subjectOf(entry)
  return row === undefined
    ? { ...subject, place: place ?? subject.place, cause, error }
    : { place: place ?? subject.place, row: `${entry.id}:${row}`, package: name, cause, error }
}

/** Where the row stands; rows that were made up stand where the row that holds them does. */
function placeOf(entry: Entry): string | undefined {
  const around = entry.parent.ctx.fiber.entry
  return placeOfRow(entry.options) ?? (around === undefined ? undefined : placeOf(around))
}

function missing(fiber: Fiber): string {
  const ctx: Context = fiber.ctx
  const names = Object.keys(fiber.inject).filter((name) => ctx.get(name) === undefined)
  const services = (names.length > 0 ? names : Object.keys(fiber.inject)).map((name) => `"${name}"`)
  return `waits for the service${services.length === 1 ? '' : 's'} ${services.join(', ')}, which no active row provides`
}

/** Thousands of rows behind one that hangs are no thousands of faults. */
function shortened(faults: readonly Fault[], left: number): Fault[] {
  const behind = faults.filter(({ cause }) => cause === BEHIND)
  const more = new Set(behind.slice(MAX_BEHIND))
  const kept = faults.filter((fault) => !more.has(fault))
  const count = more.size + left
  return count === 0 ? kept : [...kept, { cause: `${count} more rows did not start: their turn had not come` }]
}
