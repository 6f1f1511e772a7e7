export const name = 'archive'

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
    execute: ({ query }) => `One page for "${query}": opened in 1888.`,
  })
}
