import type { Context } from '@deepseek-ai/cordis'
import type { Session } from '@loopguard/session'

export const name = 'quota'
export const inject = ['sessions']

/** A veto: the append throws this error, and no listener has seen the event. */
export function apply(ctx: Context, { maxEvents }: { maxEvents: number }): void {
  ctx.on('internal/dispatch', (_mode, event, args) => {
    if (event !== 'session/event') return
    const [session] = args as [Session]
    if (session.events.length >= maxEvents) throw new Error(`session "${session.id}" is full`)
  })
}
