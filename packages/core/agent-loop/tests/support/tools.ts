import type { ToolDefinition, ToolRunContext } from '@loopguard/tools'
import { type Gate, gate } from '@loopguard/testkit'

/** A tool that takes anything. */
export function tool(
  name: string,
  execute: (args: unknown, exec: ToolRunContext) => Promise<string> | string = () => 'ok',
  more: Partial<ToolDefinition> = {},
): ToolDefinition {
  return { name, description: name, parameters: {}, execute, ...more }
}

/** A tool whose body waits for a gate of its own call; an abort does not end it. */
export interface GatedTool {
  readonly definition: ToolDefinition
  /** Opens when the body of the call has begun. */
  begun(callId: string): Gate
  /** Lets the body of the call end. */
  release(callId: string): Gate
}

export function gatedTool(name: string, more: Partial<ToolDefinition> = {}): GatedTool {
  const begun = keyed()
  const release = keyed()
  const definition = tool(
    name,
    async (_args, { callId }) => {
      begun(callId).open()
      await release(callId).opened
      return `done ${callId}`
    },
    more,
  )
  return { definition, begun, release }
}

function keyed(): (key: string) => Gate {
  const gates = new Map<string, Gate>()
  return (key) => {
    const known = gates.get(key) ?? gate()
    gates.set(key, known)
    return known
  }
}
