// A tool that waits, and that timeout-policy ends when it waits for too long.
import { watch } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'

export const name = 'example-tools'
export const inject = ['tools']

export function apply(ctx) {
  ctx.tools.register({
    name: 'wait_for_file',
    description: 'Waits until a file exists, for two seconds at most.',
    parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'], additionalProperties: false },
    timeoutMs: 2_000,
    async execute({ path }, { signal }) {
      const changes = watch(dirname(path), { signal })
      for (let exists = existsSync(path); !exists; exists = existsSync(path)) await changes.next()
      return `${path} exists`
    },
  })
}
