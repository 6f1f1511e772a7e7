/**
 * Plugin with the tool `bash`.
 * @packageDocumentation
 */

import type { Context } from '@deepseek-ai/cordis'
import z from '@deepseek-ai/schemastery'
import { isUnloading } from '@loopguard/cordis-internals'
import type {} from '@loopguard/jobs'
import { strictConfig } from '@loopguard/kit'
import type {} from '@loopguard/tools'
import { bashTool } from './bash-tool.ts'

/** The plugin's name in a composition. */
export const name = 'bash'

export const inject: string[] = ['shell', 'tools']

/** It takes none: what bounds a command is set at the service. */
export const Config: z<object, object> = strictConfig(name, z.object({}), [])

/**
 * Registers `bash`. It declares no `timeoutMs`: its own clock ends a command, and the model reads what was printed until then. While there
 * is a `ctx.jobs`, the tool has `run_in_background`.
 */
export function apply(ctx: Context): void {
  let unregister = ctx.tools.register(bashTool(ctx, undefined))
  ctx.inject(['jobs'], (inner) => {
    inner.effect(() => {
      unregister()
      unregister = ctx.tools.register(bashTool(ctx, inner.jobs))
      return () => {
        if (isUnloading(ctx)) return
        unregister()
        unregister = ctx.tools.register(bashTool(ctx, undefined))
      }
    }, 'bash: run_in_background')
  })
}
