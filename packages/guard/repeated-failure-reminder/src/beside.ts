import type { Context } from '@deepseek-ai/cordis'
import { busOf, hears, type Hook, hooksOf } from '@loopguard/cordis-internals'
import { repeatConfigFaults, type RepeatConfig } from '@loopguard/repeat'

const OTHER = 'repeat-tool-reminder'

/**
 * The configurations of the repeat-tool-reminders that hear of the calls of a carrier. Each activation of one has an object of its own, with
 * which its runs begin; one whose configuration is not understood, of another house say, is left out.
 */
export function remindersBeside(ctx: Context): (carrier: unknown) => readonly RepeatConfig[] {
  const bus = busOf(ctx)
  const known = new WeakMap<Hook, RepeatConfig | null>()
  const configOf = (hook: Hook): RepeatConfig | null => {
    const config = known.get(hook) ?? read(hook.ctx.fiber.config)
    known.set(hook, config)
    return config
  }
  return (carrier) =>
    hooksOf(bus, 'tools/post-execute')
      .filter((hook) => hook.ctx.fiber.runtime?.name === OTHER && hears(hook, carrier))
      .flatMap((hook) => configOf(hook) ?? [])
}

function read(config: unknown): RepeatConfig | null {
  const { thresholds, include, exclude, results } = Object(config) as RepeatConfig
  const counted = { thresholds, include, exclude, results }
  return repeatConfigFaults(counted).length > 0 ? null : counted
}
