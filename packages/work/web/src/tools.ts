import type { Context } from '@deepseek-ai/cordis'
import type {} from '@loopguard/tools'
import { fetchTool } from './fetch-tool.ts'
import { searchTool } from './search-tool.ts'
import type {} from './service.ts'
import type { Config } from './tools-config.ts'

/** The plugin's name in a composition. */
export const name = 'web-tools'

export const inject: string[] = ['tools', 'web']

export { Config } from './tools-config.ts'

/** Registers `web_fetch` and `web_search`. Both forward their signal to the provider, and may overlap other calls. */
export function apply(ctx: Context, config: Config): void {
  const { tools, web } = ctx
  if (config.fetch) tools.register(fetchTool(web, config))
  if (config.search) tools.register(searchTool(web, config))
}
