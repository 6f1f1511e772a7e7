import type { Context } from '@deepseek-ai/cordis'
import type { Session } from '@loopguard/session'

declare module '@loopguard/session' {
  interface SessionEventMap {
    'bookmark/set': { readonly seq: number; readonly title: string }
  }
}

export const name = 'bookmarks'
export const inject = ['sessions']

/** Marks each end of a turn. What is appended here is heard by everybody after the end itself. */
export function apply(ctx: Context): void {
  ctx.on('session/event', (session, event) => {
    if (event.type === 'turn/end') session.append('bookmark/set', { seq: event.seq, title: `turn ${event.data.turn}` })
  })
}

export function bookmarksOf({ events }: Session): string[] {
  return events.flatMap((event) => (event.type === 'bookmark/set' ? [event.data.title] : []))
}
