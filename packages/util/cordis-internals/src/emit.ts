import { messageOf } from '@loopguard/kit/errors'
import type { Bus } from './bus.ts'
import type { Hook } from './hooks.ts'
import { callHook, hooksHeard } from './listeners.ts'

/**
 * Resolves the listeners of one emit. Cordis fires `internal/dispatch` meanwhile, so a throw here is a veto, and is the caller's.
 * The returned function delivers: it calls each listener, contains what throws or rejects, and logs it at error level with the
 * event and the plugin that owns the listener.
 */
export function resolveContained(bus: Bus, carrier: object | null, name: string, args: readonly unknown[]): () => void {
  const hooks = hooksHeard(bus, 'emit', carrier, name, args)
  if (hooks.length === 0) return nothing
  return () => {
    for (const hook of hooks) deliver(bus, carrier, name, hook, args)
  }
}

function deliver(bus: Bus, carrier: object | null, name: string, hook: Hook, args: readonly unknown[]): void {
  try {
    const returned = callHook(hook, carrier, args)
    if (isThenable(returned)) void Promise.resolve(returned).catch((thrown: unknown) => logContained(bus, name, hook, thrown))
  } catch (thrown) {
    logContained(bus, name, hook, thrown)
  }
}

/**
 * Emits an event whose listeners are contained: none of them starves another or reaches the caller. A veto through
 * `internal/dispatch` is contained too: such an event reports what has happened already.
 */
export function emitContained(bus: Bus, carrier: object | null, name: string, args: readonly unknown[]): void {
  let tell
  try {
    tell = resolveContained(bus, carrier, name, args)
  } catch (thrown) {
    log(bus, 'loopguard', `${name}: vetoed before any listener ran: ${messageOf(thrown)}`, thrown)
    return
  }
  tell()
}

const nothing = (): void => {}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

function logContained(bus: Bus, name: string, { ctx }: Hook, thrown: unknown): void {
  const plugin = ctx.fiber.name
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
