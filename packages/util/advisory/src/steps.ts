import type { Context } from '@deepseek-ai/cordis'
import type { StepCalls } from '@loopguard/repeat'
import type {} from '@loopguard/session'

/** The calls of the step that an agent is in, from its log; nothing where a host has no such log. */
export function watchSteps(ctx: Context): (agent: object) => StepCalls | undefined {
  const steps = new Map<unknown, StepCalls>()
  ctx.on('session/event', ({ id }, { type, data }) => {
    if (type === 'assistant/message') steps.set(id, { calls: callsOf(data.message.content) })
    else if (type === 'step/end') steps.delete(id)
  })
  return (agent) => steps.get((agent as { readonly id?: unknown }).id)
}

function callsOf(blocks: readonly { readonly type: string }[]): StepCalls['calls'] {
  return blocks.flatMap((block) => {
    if (block.type !== 'tool-call') return []
    const { name, arguments: raw } = block as { readonly type: string; readonly name: string; readonly arguments: string }
    return [{ name, args: parsed(raw) }]
  })
}

/** As a loop reads them: no text means no arguments, and text that is no JSON stays text. */
function parsed(raw: string): unknown {
  try {
    return raw === '' ? {} : JSON.parse(raw)
  } catch {
    return raw
  }
}
