/**
 * Plugin that serves one provider with a scripted model.
 * @packageDocumentation
 */

import type { Context } from '@deepseek-ai/cordis'
import z from '@deepseek-ai/schemastery'
import { strictConfig } from '@loopguard/kit'
import { pathOf } from './path-of.ts'
import { readScript } from './script-file.ts'
import { ScriptedModel } from './scripted-model.ts'

export interface Config {
  /** Default `scripted`. */
  readonly provider: string
  /** The YAML file to read, relative to the folder of the `cordis.yml`. */
  readonly script: string
}

export const name = 'scripted-model'

export const inject: string[] = ['llm']

export const Config: z<Partial<Config>, Config> = strictConfig(
  name,
  z.object({ provider: z.string().default('scripted'), script: z.string().required() }) as z<Partial<Config>, Config>,
  ['provider', 'script'],
)

/** @throws ScriptError for a script that cannot be read or is malformed. */
export function apply(ctx: Context, { provider, script }: Config): void {
  ctx.llm.registerAdapter([provider], new ScriptedModel(readScript(pathOf(ctx, script, name, 'script'))))
}
