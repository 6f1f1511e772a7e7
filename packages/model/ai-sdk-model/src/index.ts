import type { Context } from '@deepseek-ai/cordis'
import type {} from '@loopguard/llm'
import { AiSdkAdapter } from './adapter.ts'
import { HttpClient } from './client.ts'
import type { Config } from './config.ts'
import { sourceOf } from './models.ts'

export { Config } from './config.ts'
export type { KindName } from './kind-name.ts'

/** The plugin's name in a composition. */
export const name = 'ai-sdk-model'

/** It serves requests to models. */
export const inject: string[] = ['llm']

/**
 * Serves one provider through its package of the AI SDK.
 * @throws HarnessError `MODEL_PACKAGE_NOT_FOUND` for a package that is not installed, `BAD_MODEL_PACKAGE` for one that cannot be used.
 */
export async function apply(ctx: Context, config: Config): Promise<void> {
  const source = sourceOf(config, ctx.baseUrl)
  // A package of the row's own is tried out, so that a composition that cannot work says so when it starts.
  if (config.kind === undefined) (await source.load())('any', 'none', fetch)
  const client = new HttpClient(config.idleTimeoutMs)
  ctx.effect(() => () => client.close(), `ai-sdk-model: connections of ${JSON.stringify(config.provider)}`)
  ctx.llm.registerAdapter([config.provider], new AiSdkAdapter(config, source, client))
}
