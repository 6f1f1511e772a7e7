import { Context } from '@deepseek-ai/cordis'
import InvariantRegistry from '@loopguard/invariants'
import { Counter } from './counter.ts'
import * as counterInvariant from './invariant.ts'

export async function compose(): Promise<Context> {
  const ctx = new Context()
  await ctx.plugin(InvariantRegistry, { package_blocklist: ['^@acme/noisy-'] })
  await ctx.plugin(Counter)
  await ctx.plugin(counterInvariant)
  ctx.on('invariants/violation', (error) => console.error(`${error.packageName} broke its promise: ${error.message}`))
  return ctx
}
