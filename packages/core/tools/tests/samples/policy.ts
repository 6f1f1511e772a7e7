import type { Context } from '@deepseek-ai/cordis'

export const name = 'read-only'
export const inject = ['tools']

/** Asks before anything is deleted, and never lets anything be written below /etc. */
export function apply(ctx: Context): void {
  ctx.on('tools/pre-execute', async (exec, next) => {
    if (exec.name === 'delete') return { kind: 'ask', reason: 'it deletes a file' }
    return next()
  })
  ctx.tools.guard(({ arguments: args }) => (JSON.stringify(args).includes('/etc/') ? 'nothing below /etc is to be touched' : undefined))
}
