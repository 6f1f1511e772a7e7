import { messageOf } from '@loopguard/kit/errors'
import type { Bus } from './bus.ts'
import { type Hook, hooksOf, ownerAt } from './hooks.ts'
import { listenersOf } from './listeners.ts'

/**
 * Resolves the listeners of one emit. Cordis fires `internal/dispatch` meanwhile, so a throw here is a veto, and is the caller's.
 * The returned function delivers: it calls each listener, contains what throws or rejects, and logs it at error level with the
 * event and the plugin that owns the listener.
 */
export function resolveContained(bus: Bus, carrier: object | null, name: string, args: readonly unknown[]): () => void {
  const listeners = listenersOf(bus, 'emit', carrier, name, args)
  if (listeners.length === 0) return nothing
  const owners = hooksOf(bus, name)
  return () => {
    for (const [index, listener] of listeners.entries()) {
      const report = (thrown: unknown): void => logContained(bus, carrier, name, owners, index, thrown)
      try {
        const returned = listener(...args)
        if (isThenable(returned)) void Promise.resolve(returned).catch(report)
      } catch (thrown) {
        report(thrown)
      }
    }
  }
}

/**
 * Emits an event whose listeners are contained: none of them starves another or reaches the caller. A veto through
 * `internal/dispatch` is contained too: such an event reports what has happened already.
 */
export function emitContained(bus: Bus, carrier: object | null, name: string, args: readonly unknown[]): void {
  let deliver
  try {
    deliver = resolveContained(bus, carrier, name, args)
  } catch (thrown) {
    log(bus, 'loopguard', `${name}: vetoed before any listener ran: ${messageOf(thrown)}`, thrown)
    return
  }
  deliver()
}

const nothing = (): void => {}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

function logContained(bus: Bus, carrier: object | null, name: string, hooks: readonly Hook[], index: number, thrown: unknown): void {
  const plugin = ownerAt(hooks, carrier, index)
  log(bus, plugin, `${name}: a listener of plugin "${plugin}" failed: ${messageOf(thrown)}`, thrown)
}

/** At error level. An exporter that fails, on a value that it cannot show say, must not undo the containment. */
function log(bus: Bus, logger: string, line: string, thrown: unknown): void {
  try {
    bus.root.logger(logger).error(line.replaceAll('%', '%%'), thrown)
  } catch {
    // Nothing is left that could report it.
  }
}
