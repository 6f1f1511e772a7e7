// Three tools for the agent of this example: a plugin is a module that exports `name`, `inject` and `apply`.
// Plain JavaScript, so that a `cordis.yml` can name this file whether the packages run from their sources or as published.
import { setTimeout as delay } from 'node:timers/promises'

export const name = 'looping-agent-tools'

/** `apply` runs once the service `tools` is there, and again should it ever be replaced. */
export const inject = ['tools']

/** @param {import('@deepseek-ai/cordis').Context} ctx */
export function apply(ctx) {
  ctx.tools.register({
    name: 'search',
    description: 'Searches the archive.',
    parameters: {
      type: 'object',
      properties: { query: { type: 'string', minLength: 1 } },
      required: ['query'],
      additionalProperties: false,
    },
    async execute({ query }, { signal }) {
      // The signal goes to what does the work: here a delay, in real life a request.
      await delay(5, undefined, { signal })
      return `No results for "${query}".`
    },
  })

  ctx.tools.register({
    name: 'note',
    description: 'Keeps a note of what has been tried.',
    parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'], additionalProperties: false },
    execute({ text }, { signal }) {
      signal.throwIfAborted()
      return `Noted: ${text}`
    },
  })

  ctx.tools.register({
    name: 'read_page',
    description: 'Reads a page of the archive.',
    parameters: { type: 'object', properties: { page: { type: 'integer', minimum: 1 } }, required: ['page'], additionalProperties: false },
    // A promise to the guard `timeout-policy`: this tool forwards its signal, so it can be given 250 ms.
    timeoutMs: 250,
    execute(_args, { signal }) {
      // The archive never answers. What ends this call is the signal, and nothing else.
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason), { once: true })
      })
    },
  })
}
