import type { Context } from '@deepseek-ai/cordis'
import z from '@deepseek-ai/schemastery'
import { busOf, resolveContained } from '@loopguard/cordis-internals'
import { strictConfig } from '@loopguard/kit'
import { httpFetch } from './http/fetch.ts'
import type {} from './service.ts'

/** The plugin's name in a composition. */
export const name = 'web-http-fetch'

export const inject: string[] = ['web']

export interface Config {
  /** Whether addresses that are not public may be fetched: loopback, private networks, metadata services. Default `false`. */
  readonly allowPrivateNetwork: boolean
}

const schema = z.object({
  allowPrivateNetwork: z.boolean().default(false).description('Whether addresses that are not public may be fetched.'),
}) as z<Partial<Config>, Config>

export const Config: z<Partial<Config>, Config> = strictConfig('web-http-fetch', schema, ['allowPrivateNetwork'])

/** Registers the fetch provider `http`. */
export function apply(ctx: Context, { allowPrivateNetwork }: Config): void {
  const bus = busOf(ctx)
  ctx.web.registerFetch(httpFetch({ allowPrivateNetwork, onConnect: (event) => resolveContained(bus, null, 'web/connect', [event])() }))
}
