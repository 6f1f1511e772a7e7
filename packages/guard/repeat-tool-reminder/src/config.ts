import type { Plugin } from '@deepseek-ai/cordis'
import Schema from '@deepseek-ai/schemastery'
import { strictSchema } from '@loopguard/advisory'
import { repeatConfigFaults, type RepeatConfig } from '@loopguard/repeat'

export const name = 'repeat-tool-reminder'

/** How the guard is set. No configuration, or a key left out or `undefined`, means the default; an unknown key and a `null` are refused. */
export type Config = RepeatConfig

const schema = Schema.object({
  thresholds: Schema.array(Schema.number().step(1).min(2)).default([3, 5, 8]).description('Run lengths at which the model is reminded.'),
  include: Schema.array(Schema.string()).default([]).description('Patterns of the tools whose calls count; none means all.'),
  exclude: Schema.array(Schema.string()).default([]).description('Patterns of the tools whose calls are not seen at all.'),
  argumentsPreviewChars: Schema.number().step(1).min(1).default(500).description('Code points of the arguments that a reminder shows.'),
  results: Schema.union(['any', 'unchanged'] as const)
    .default('any')
    .description('Whether a call counts on only if its result is unchanged.'),
})

export const Config: NonNullable<Plugin.Base<Config>['Config']> = strictSchema(schema as never, repeatConfigFaults)
