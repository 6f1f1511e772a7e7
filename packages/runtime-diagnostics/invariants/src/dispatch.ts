import type { Context } from '@deepseek-ai/cordis'
import { isUnloading } from './unloading.ts'

/** Called once for each dispatch of an event, before any listener hears of it. A throw refuses the event, as Cordis has it. */
export type DispatchListener = (args: readonly unknown[], carrier: unknown) => void

/**
 * Listens to the dispatches of the named events, until the fiber of `ctx` unloads.
 *
 * As `ctx.on('internal/dispatch', …)`, at a fraction of the cost: Cordis calls each listener of that event for every event there is, so
 * all that listen through here share one. It lives on one of their fibers, and moves on before that goes.
 */
export function onDispatch(ctx: Context, listeners: Readonly<Record<string, DispatchListener>>): void {
  const { _hooks: bus } = ctx.events as unknown as { readonly _hooks: object }
  let tap = taps.get(bus)
  if (tap === undefined) taps.set(bus, (tap = new Tap()))
  tap.join(ctx, Object.entries(listeners))
}

/** One for each event bus. */
const taps = new WeakMap<object, Tap>()

class Tap {
  private readonly members = new Set<Context>()
  private readonly listeners = new Map<string, readonly DispatchListener[]>()
  private isHeld = false

  join(ctx: Context, entries: readonly (readonly [string, DispatchListener])[]): void {
    const member = ctx.extend()
    ctx.effect(
      () => {
        this.members.add(member)
        for (const [event, listener] of entries) this.listeners.set(event, [...(this.listeners.get(event) ?? []), listener])
        return () => {
          this.members.delete(member)
          for (const [event, listener] of entries) {
            const left = this.listeners.get(event)?.filter((each) => each !== listener) ?? []
            if (left.length > 0) this.listeners.set(event, left)
            else this.listeners.delete(event)
          }
        }
      },
      `onDispatch(${entries.map(([event]) => JSON.stringify(event)).join(', ')})`,
    )
    if (!this.isHeld) this.hold()
  }

  private hold(): void {
    const holder = [...this.members].find((member) => !isUnloading(member))
    this.isHeld = holder !== undefined
    if (holder === undefined) return
    const listen = (_mode: unknown, event: string, args: readonly unknown[], carrier: unknown): void => {
      for (const listener of this.listeners.get(event) ?? NOBODY) listener(args, carrier)
    }
    const pass = (): void => this.hold()
    holder.effect(function* () {
      // What is yielded last goes first: there is always somebody who listens.
      yield holder.on('internal/dispatch', listen)
      yield pass
    }, 'the shared listener of onDispatch')
  }
}

const NOBODY: readonly DispatchListener[] = []
