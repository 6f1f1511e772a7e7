/**
 * Plugin that lets a client of the Agent Client Protocol drive agents.
 * @packageDocumentation
 */

import type { Context } from '@deepseek-ai/cordis'
import type { Frontend } from '@loopguard/agent-loop'
import type {} from '@loopguard/tools'
import type { Config } from './config.ts'
import { Door } from './door.ts'
import { takeStandardStreams, type Wire } from './wire.ts'

export { Config } from './config.ts'
export type { Wire } from './wire.ts'

/** The plugin's name in a composition. */
export const name = 'acp'

export const inject: string[] = ['agentLoop', 'sessions']

/**
 * Answers the client from now on, so the row belongs behind those that a session needs. Provides `frontend`, and `approval` unless there
 * is one.
 */
export function apply(ctx: Context, config: Config): void {
  const given = (ctx.get('acpWire') as Wire | null | undefined) ?? undefined
  const { wire, giveBack } = given === undefined ? takeStandardStreams() : { wire: given, giveBack: undefined }
  const door = new Door(ctx, config, wire)
  const frontend: Frontend = { closed: door.closed, ownsStdout: true }
  ctx.provide('frontend', frontend)
  if ((ctx.get('approval') ?? undefined) === undefined) ctx.provide('approval', door.permissions)
  ctx.effect(
    () => async () => {
      await door.close()
      giveBack?.()
    },
    'acp: the client',
  )
}
