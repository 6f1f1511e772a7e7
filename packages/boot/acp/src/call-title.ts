import type { ToolKind } from '@agentclientprotocol/sdk'
import { clip } from '@loopguard/kit'

const MAX_TITLE_CHARS = 120

/** How an editor is to show a call, by the name of the tool. */
const KINDS: Readonly<Record<string, ToolKind>> = {
  bash: 'execute',
  persistent_bash: 'execute',
  todo_write: 'think',
  web_fetch: 'fetch',
  web_search: 'search',
}

export function kindOf(tool: string): ToolKind {
  return Object.hasOwn(KINDS, tool) ? (KINDS[tool] as ToolKind) : 'other'
}

/** One line: the tool and what it is called with. */
export function titleOf(tool: string, args: string): string {
  return clip(`${tool} ${args}`.replaceAll(/\s+/g, ' ').trim(), MAX_TITLE_CHARS)
}

/** The arguments as JSON, or the model's text where that is none. */
export function inputOf(args: string): unknown {
  try {
    return JSON.parse(args)
  } catch {
    return args
  }
}
