import { type Bus, emitContained, isHeard } from '@loopguard/cordis-internals'
import { messageOf, snapshot } from '@loopguard/kit'
import type { StreamChunk } from '@loopguard/llm'
import { carrierOf } from '@loopguard/tools'
import { quietly } from './close-after.ts'
import type { StepPlace } from './step-place.ts'
import type { Agent } from './types.ts'

/** Emits `agent/delta`. Costs a look when nobody listens. Never throws. */
export function tellDelta(
  { agent, bus }: { readonly agent: Agent; readonly bus: Bus },
  { turn, step }: StepPlace,
  attempt: number,
  given: StreamChunk,
): void {
  if (!isHeard(bus, 'agent/delta')) return
  let chunk: StreamChunk
  try {
    chunk = frozenCopy(given)
  } catch (fault) {
    quietly(() => bus.root.logger('agent-loop').error(`agent "${agent.id}": agent/delta left out a chunk: ${messageOf(fault)}`, fault))
    return
  }
  emitContained(bus, carrierOf(agent), 'agent/delta', [Object.freeze({ agent, turn, step, attempt, chunk })])
}

/**
 * The loop goes on with the chunk itself, so a listener must not be able to change it; freezing it would be seen by the adapter. An
 * adapter may spell out what it leaves out.
 */
function frozenCopy(chunk: StreamChunk): StreamChunk {
  return snapshot(Object.fromEntries(Object.entries(chunk).filter(([, value]) => value !== undefined)), 'chunk') as StreamChunk
}
