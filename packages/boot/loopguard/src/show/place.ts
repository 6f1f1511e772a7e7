import type { CallRecord } from './activities.ts'

const MAX_ARGUMENTS = 200

/** A call, and where in the conversation it was made, for a person. */
export function placeOf({ agent, turn, step, callId, name, arguments: raw }: CallRecord): string {
  const text = raw.replaceAll(/\s+/g, ' ')
  const shown = text.length > MAX_ARGUMENTS ? `${text.slice(0, MAX_ARGUMENTS).replace(/[\ud800-\udbff]$/, '')}…` : text
  return `${name} ${shown} [${callId}] (${agent}, turn ${turn}, step ${step})`
}
