import { companion, type Companion } from '@loopguard/invariants/companion'
import type {} from './counter.ts' // its types and event names, nothing of its code

const plugin: Companion = companion({
  name: 'counter-invariant',
  packageName: '@acme/counter',
  inject: ['counter'],
  install(ctx, fail) {
    let last = ctx.counter.value
    ctx.on('counter/changed', (value) => {
      const before = last
      last = value
      if (value !== before + 1) return fail(`went from ${before} to ${value}, not by one`)
    })
  },
})

export const name: string = plugin.name
export const inject: string[] = plugin.inject
export const apply: Companion['apply'] = plugin.apply
