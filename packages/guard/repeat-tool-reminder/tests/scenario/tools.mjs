export const name = 'todo'
export const inject = ['tools']

/** @param {import('@deepseek-ai/cordis').Context} ctx */
export function apply(ctx) {
  ctx.tools.register({ name: 'todo_write', description: 'Writes the list of things to do.', parameters: {}, execute: () => 'Saved.' })
}
