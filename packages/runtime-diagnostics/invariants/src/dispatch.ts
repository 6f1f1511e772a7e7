import type { Context } from '@deepseek-ai/cordis'
import { busOf, isUnloading, listen } from '@loopguard/cordis-internals'

/** Called once for each dispatch of an event, before any listener hears of it. A throw refuses the event, as Cordis has it. */
export type DispatchListener = (args: readonly unknown[], carrier: unknown) => void

/**
 * Listens to the dispatches of the named events, until the fiber of `ctx` unloads.
 *
 * As `ctx.on('internal/dispatch', …)`, at a fraction of the cost: Cordis calls each listener of that event for every event there is, so
 * all that listen through here share one, in front of others. It lives on one of their fibers, and moves on before that goes.
 */
export function onDispatch(ctx: Context, listeners: Readonly<Record<string, DispatchListener>>): void {
  const { events } = busOf(ctx)
  let tap = taps.get(events)
  if (tap === undefined) taps.set(events, (tap = new Tap()))
  tap.join(
    ctx,
    Object.entries(listeners).map(([event, listener]) => ({ event, listener })),
  )
}

/** One for each event bus. */
const taps = new WeakMap<object, Tap>()

interface Entry {
  readonly event: string
  readonly listener: DispatchListener
}

class Tap {
  private readonly members = new Set<Context>()
  private readonly entries = new Map<string, readonly Entry[]>()
  private isHeld = false

  join(ctx: Context, joining: readonly Entry[]): void {
    ctx.effect(
      () => {
        this.members.add(ctx)
        for (const entry of joining) this.entries.set(entry.event, [...this.of(entry.event), entry])
        return () => {
          this.members.delete(ctx)
          for (const entry of joining) {
            const left = this.of(entry.event).filter((each) => each !== entry)
            this.entries.set(entry.event, left)
          }
        }
      },
      `onDispatch(${joining.map(({ event }) => JSON.stringify(event)).join(', ')})`,
    )
    if (!this.isHeld) this.hold()
  }

  private hold(): void {
    const holder = [...this.members].find((member) => !isUnloading(member))
    this.isHeld = holder !== undefined
    if (holder === undefined) return
    const tell = (_mode: unknown, event: string, args: readonly unknown[], carrier: unknown): void => {
      const entries = this.of(event)
      for (let at = 0; at < entries.length; at++) entries[at]!.listener(args, carrier)
    }
    const pass = (): void => this.hold()
    holder.effect(function* () {
      // What is yielded last goes first: there is always somebody who listens.
      // In front: what somebody else refuses was seen.
      yield listen(holder, 'internal/dispatch', tell, { prepend: true })
      yield pass
    }, 'the shared listener of onDispatch')
  }

  private of(event: string): readonly Entry[] {
    return this.entries.get(event) ?? NONE
  }
}

const NONE: readonly Entry[] = []
