import type { Context } from '@deepseek-ai/cordis'
import type { RowLoader } from '../load/row-loader.ts'
import { settlesWithin } from '../load/time-limit.ts'

/** How long what has been told to stop is waited for once its time is over. */
export const GRACE_MS = 5000
const FIRST_LOOK_MS = 2000

/**
 * Names what has not stopped, as long as it is waited for.
 * @returns stops it.
 */
export function nameTheDeaf(running: () => readonly string[], stopLimitMs: number, say: (text: string) => void): () => void {
  let told = new Set<string>()
  const timer = setInterval(
    () => {
      const deaf = running()
      for (const line of deaf)
        if (!told.has(line)) say(`waiting for ${line}: it has not stopped, and is given up on ${stopLimitMs} ms after the cancel\n`)
      told = new Set(deaf)
    },
    Math.min(FIRST_LOOK_MS, stopLimitMs / 2),
  )
  return () => clearInterval(timer)
}

/** Unloads everything, and says which rows were not done with it in time. */
export async function unload(ctx: Context, limitMs: number, say: (text: string) => void): Promise<void> {
  const rows = [...(ctx.get('loader') as unknown as RowLoader).entries()]
  if (await settlesWithin(limitMs, ctx.fiber.dispose())) return
  const late = rows.filter(({ fiber }) => fiber?.inertia !== undefined).map(({ id, options }) => `${id} (${options.name})`)
  say(`still unloading after ${limitMs} ms: ${late.join(', ')}; leaving\n`)
}
