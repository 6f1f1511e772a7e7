import { Context } from '@deepseek-ai/cordis'
import Shell, { type ShellResult } from '@loopguard/shell'

export async function count(folder: string): Promise<ShellResult> {
  const ctx = new Context()
  await ctx.plugin(Shell, { timeoutMs: 10_000 })
  try {
    return await ctx.shell.run({ command: 'ls | wc -l', workdir: folder })
  } finally {
    await ctx.fiber.dispose()
  }
}
