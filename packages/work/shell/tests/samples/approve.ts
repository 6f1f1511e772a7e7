import type { Context } from '@deepseek-ai/cordis'

export const name = 'approve-commands'
export const inject = ['tools']

/** Commands that only look need no approval. */
const HARMLESS = /^(ls|cat|pwd|git (status|log|diff))( [\w./-]+)*$/

/** Asks before any other command runs. `ctx.get('approval')` answers; without such a service the command is denied. */
export function apply(ctx: Context): void {
  ctx.on('tools/pre-execute', async (exec, next) => {
    if (exec.name !== 'bash' && exec.name !== 'persistent_bash') return next()
    const { command } = Object(exec.arguments) as { readonly command?: unknown }
    if (typeof command === 'string' && HARMLESS.test(command)) return next()
    return { kind: 'ask', reason: `it runs: ${String(command)}` }
  })
}
