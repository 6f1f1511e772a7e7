import { createRequire } from 'node:module'
import { expect, it } from 'vitest'
import { Host, said } from './support.ts'

const isLoaded = (): boolean => Object.keys(createRequire(import.meta.url).cache).some((file) => /[\\/]ajv[\\/]/.test(file))

it('no compiler is loaded for a tool with a plain schema before its first call, and then outside of what may have a budget', async () => {
  const host = await Host.start(undefined, { parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] } })
  host.ctx.tools.schemas()
  expect(isLoaded()).toBe(false)
  const seen: boolean[] = []
  host.ctx.on('tools/execute', (_, next) => {
    seen.push(isLoaded())
    return next()
  })
  expect(said(await host.call({ arguments: {} }))).toContain('must have the property "path"')
  expect(seen).toEqual([true])
})
