import type { Context } from '@deepseek-ai/cordis'
import { plain } from './original.ts'

/** The parts of Cordis that a dispatch needs, read once: a read through a context is traced, and slow. */
export interface Bus {
  readonly events: Context['events']
  readonly root: Context
}

/** Reads the event bus of a context once, untraced. */
export function busOf(ctx: Context): Bus {
  return { events: plain(ctx.events), root: ctx.root }
}
