import type { Context } from '@deepseek-ai/cordis'
import type { SessionEvent } from '@loopguard/session'

/** A companion that refuses events of the log: the first that matches, or as many as `times` says. Returns what ends it. */
export function veto(ctx: Context, is: (event: SessionEvent) => boolean, { code = 'VETO', times = 1 } = {}): () => unknown {
  let left = times
  return ctx.on('internal/dispatch', (_mode, name, [, event]) => {
    if (name === 'session/event' && is(event as SessionEvent) && left-- > 0) throw Object.assign(new Error('vetoed'), { code })
  })
}
