import type { Context } from '@deepseek-ai/cordis'
import type {} from '@loopguard/subagent'
import { Config } from './config.ts'
import { ralphTool } from './ralph-tool.ts'

export { Config } from './config.ts'
export type { Report } from './report.ts'

/** The plugin's name in a composition. */
export const name = 'ralph'

export const inject: string[] = ['subagents', 'tools']

/** Registers `ralph`. It declares no `timeoutMs`: what bounds it are its rounds. */
export function apply(ctx: Context, config?: Partial<Config>): void {
  const { maxRounds = 256, maxHandoffChars = 16_384 } = config ?? {}
  ctx.tools.register(ralphTool(ctx.subagents, { maxRounds, maxHandoffChars }))
}
