import type { Context, Fiber } from '@deepseek-ai/cordis'
import type { Entry } from '@deepseek-ai/cordis-plugin-loader'
import { explain, type Fault } from './faults.ts'
import type { RowLoader } from './row-loader.ts'

/** Names of Cordis' fiber states by number; the enum itself does not exist at run time. */
const STATES = ['pending', 'loading', 'active', 'failed', 'disposed', 'unloading'] as const

/** Finds every row that is not active, once the loader has nothing more to do or was given up on after `waitedMs`. */
export async function audit(loader: RowLoader, waitedMs: number | undefined): Promise<Fault[]> {
  const faults = await Promise.all([...loader.entries()].map((entry) => faultOf(loader, entry, waitedMs)))
  return faults.filter((fault) => fault !== undefined)
}

async function faultOf(loader: RowLoader, entry: Entry, waitedMs: number | undefined): Promise<Fault | undefined> {
  const { fiber } = entry
  const name = entry.options.name
  const fault = (cause: string, error?: unknown): Fault => ({ row: entry.id, package: name, cause, ...(error !== undefined && { error }) })
  if (fiber === undefined) {
    const disabled = isDisabled(entry)
    if (disabled === true) return undefined
    if (disabled !== false) return fault(explain(disabled.error), disabled.error)
    if (loader.failures.has(name)) return fault(explain(loader.failures.get(name)), loader.failures.get(name))
    if (loader.imported.has(name)) return fault('did not start: rows start in order, and one before it is not there yet')
    return fault(`still being imported after ${waitedMs ?? 0} ms`)
  }
  switch (STATES[fiber.state]) {
    case 'active':
      return undefined
    case 'failed': {
      const error: unknown = await fiber.await().then(
        () => undefined,
        (reason: unknown) => reason,
      )
      return fault(explain(error), error)
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

/** What `disabled` comes to: it may be an expression, which may fail. */
function isDisabled(entry: Entry): boolean | { readonly error: unknown } {
  try {
    return entry.disabled
  } catch (error) {
    return { error }
  }
}

function missing(fiber: Fiber): string {
  const ctx: Context = fiber.ctx
  const names = Object.keys(fiber.inject).filter((name) => ctx.get(name) === undefined)
  const services = (names.length > 0 ? names : Object.keys(fiber.inject)).map((name) => `"${name}"`)
  return `waits for the service${services.length === 1 ? '' : 's'} ${services.join(', ')}, which no active row provides`
}
