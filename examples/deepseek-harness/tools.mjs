import { defineTool } from '@deepseek-ai/dsh-tools'

export const name = 'example-tools'
export const inject = ['tools']

const output = { schema: { type: 'string' }, render: (_args, value) => [{ type: 'text', text: value }] }

/** @param {import('@deepseek-ai/cordis').Context} ctx */
export function apply(ctx) {
  ctx.tools.register(
    defineTool({
      name: 'search',
      description: 'Searches the archive.',
      parameters: { query: { type: 'string', required: true } },
      output,
      execute: ({ query }) => Promise.resolve(`No results for "${query}".`),
    }),
  )
  ctx.tools.register(
    defineTool({
      name: 'note',
      description: 'Keeps a note of what has been tried.',
      parameters: { text: { type: 'string', required: true } },
      output,
      execute: ({ text }) => Promise.resolve(`Noted: ${text}`),
    }),
  )
  ctx.tools.register(
    defineTool({
      name: 'read_page',
      description: 'Reads a page of the archive, which never answers.',
      parameters: { page: { type: 'integer', required: true } },
      output,
      timeoutMs: 250,
      execute: (_args, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason), { once: true })
        }),
    }),
  )
}
