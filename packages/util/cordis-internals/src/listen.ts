import type { Context, EventOptions, Events } from '@deepseek-ai/cordis'
import { plain } from './original.ts'
import type { Hook } from './hooks.ts'

/**
 * `ctx.on` without the wrapper that Cordis puts around a listener: it traces `this` and each argument of each call, which costs several
 * times what a short listener does. For a listener that is given no service, or need not be known to one as its caller.
 */
export function listen<K extends keyof Events>(ctx: Context, event: K, listener: Events[K], options: EventOptions = {}): () => void {
  const events = plain(ctx.events)
  // Cordis asks whether somebody else takes the listener in.
  const taken: unknown = events.bail(ctx, 'internal/listener', event, listener, options)
  if (taken !== undefined) return taken as () => void
  const hooks = (events._hooks[event] ??= [])
  const hook: Hook = { ctx, callback: listener as Hook['callback'], ...options }
  return ctx.effect(
    () => {
      if (options.prepend === true) hooks.unshift(hook)
      else hooks.push(hook)
      return () => void hooks.splice(hooks.indexOf(hook), 1)
    },
    `ctx.on(${JSON.stringify(event)})`,
  ) as () => void
}
