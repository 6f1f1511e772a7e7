import type { Plugin } from '@deepseek-ai/cordis'
import Schema from '@deepseek-ai/schemastery'
import { strictSchema } from '@loopguard/advisory'
import { failureConfigFaults, type FailureConfig } from '@loopguard/repeat'

export const name = 'repeated-failure-reminder'

/** How the guard is set. No configuration, or a key left out or `undefined`, means the default; an unknown key and a `null` are refused. */
export type Config = FailureConfig

const schema = Schema.object({
  thresholds: Schema.array(Schema.number().step(1).min(2))
    .default([3, 5])
    .description('Numbers of failures at which the model is reminded.'),
  include: Schema.array(Schema.string()).default([]).description('Patterns of the tools whose failures count; none means all.'),
  exclude: Schema.array(Schema.string()).default([]).description('Patterns of the tools whose failures do not count.'),
  argumentsPreviewChars: Schema.number().step(1).min(1).default(500).description('Code points of the arguments that a reminder shows.'),
  errorPreviewChars: Schema.number().step(1).min(1).default(200).description('Code points of the error that a reminder shows.'),
  maskVolatile: Schema.boolean().default(true).description('Whether errors that differ in what is volatile alone are the same.'),
  errors: Schema.string().description('A regular expression that finds a failure in a result that is no error.'),
})

export const Config: NonNullable<Plugin.Base<Config>['Config']> = strictSchema(schema as never, failureConfigFaults)
