import type { ToolAgent } from '@loopguard/tools'

/** The folder in which an agent works, when its options name one. An agent of another host may have no options. */
export function folderOf(agent: ToolAgent | undefined): string | undefined {
  return (agent as { readonly options?: { readonly cwd?: string } } | undefined)?.options?.cwd
}
