import type { Context } from '@deepseek-ai/cordis'

/** What is logged at error level from now on, as text. */
export function errorsOf(ctx: Context): string[] {
  const lines: string[] = []
  ctx.logger.exporter({
    export: ({ level, name, args }) => {
      if (level === 0) lines.push(`[${name}] ${String(args[0])}`)
    },
  })
  return lines
}
