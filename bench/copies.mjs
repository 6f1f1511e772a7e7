// Several copies of our packages in one process: `import('…?copy=<name>')` loads what it names, and all that it imports of ours, anew.
// The copy `unfair` has no hops in it.
import { registerHooks } from 'node:module'

const COPY = /\?copy=(\w+)$/

registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context)
    const copy = COPY.exec(context.parentURL ?? '')?.[1]
    if (copy === undefined || !found.url.includes('/packages/') || COPY.test(found.url)) return found
    return { ...found, url: `${found.url}?copy=${copy}` }
  },
  load(url, context, next) {
    if (!url.endsWith('/hop.js?copy=unfair')) return next(url, context)
    return { format: 'module', source: 'export const hopIfDue = () => undefined, isHopAwaited = () => false', shortCircuit: true }
  },
})
