export const name = 'todo-list-tools'
export const inject = ['tools']

/** @param {import('@deepseek-ai/cordis').Context} ctx */
export function apply(ctx) {
  ctx.tools.register({
    name: 'search',
    description: 'Searches the archive.',
    parameters: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'], additionalProperties: false },
    execute: ({ query }) => `No results for "${query}".`,
  })
}
