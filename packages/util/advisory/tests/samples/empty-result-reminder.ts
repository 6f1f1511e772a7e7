import type { Context } from '@deepseek-ai/cordis'
import { advise, outcomeOf } from '@loopguard/advisory'

export const name = 'empty-result-reminder'

/** Reminds the model of each call that brings nothing. */
export function apply(ctx: Context): void {
  advise(ctx, name, {
    count: ({ name: tool, result }) =>
      outcomeOf(result)?.text === '' ? `${tool} returned nothing. Do not take that for a success.` : undefined,
    startAfresh() {},
  })
}
