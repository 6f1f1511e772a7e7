import type { Agent } from '@loopguard/agent-loop'
import { show } from '@loopguard/kit'
import { badSubagent } from './failures.ts'
import { faultOfFilter } from './tool-filter.ts'
import type { SubagentRequest } from './types.ts'

/** @throws HarnessError `BAD_SUBAGENT` that names the field, the value and what is wanted. */
export function checkRequest(request: SubagentRequest, isLiving: (agent: Agent) => boolean): void {
  const { parent, prompt, system, provider, model, toolFilter, tools } = Object(request) as Partial<SubagentRequest>
  if (typeof parent !== 'object' || parent === null || !isLiving(parent)) {
    throw badSubagent(`\`parent\` must be a living agent of the loop, got ${show((parent as Partial<Agent> | undefined)?.id ?? parent)}`)
  }
  if (typeof prompt !== 'string' || prompt.trim() === '') throw badSubagent(`\`prompt\` must be non-blank text, got ${show(prompt)}`)
  for (const [key, value] of Object.entries({ system, provider, model })) {
    if (value !== undefined && typeof value !== 'string') throw badSubagent(`\`${key}\` must be text or left out, got ${show(value)}`)
  }
  if (tools !== undefined && !Array.isArray(tools)) throw badSubagent(`\`tools\` must be a list of tools or left out, got ${show(tools)}`)
  const fault = faultOfFilter(toolFilter)
  if (fault !== undefined) throw badSubagent(fault)
}
