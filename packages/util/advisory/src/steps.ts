import type { Context } from '@deepseek-ai/cordis'
import { listen } from '@loopguard/cordis-internals'
import type { StepCalls } from '@loopguard/repeat'
import type {} from '@loopguard/session'

/** The calls of the step that an agent is in, from its log; nothing where a host has no such log. They are read when they are asked for. */
export function watchSteps(ctx: Context): (agent: object) => StepCalls | undefined {
  const steps = new Map<unknown, StepCalls>()
  listen(ctx, 'session/event', ({ id }, { type, data }) => {
    if (type === 'assistant/message') steps.set(id, new Step(data))
    else if (type === 'step/end') steps.delete(id)
  })
  return (agent) => steps.get((agent as { readonly id?: unknown }).id)
}

class Step implements StepCalls {
  private readonly data: unknown
  private read: StepCalls['calls'] | undefined

  constructor(data: unknown) {
    this.data = data
  }

  get calls(): StepCalls['calls'] {
    return (this.read ??= callsOf(this.data))
  }
}

function callsOf(data: unknown): StepCalls['calls'] {
  const { message } = Object(data) as { readonly message?: unknown }
  const { content } = Object(message) as { readonly content?: unknown }
  if (!Array.isArray(content)) return []
  return (content as readonly unknown[]).flatMap((block) => {
    const { type, name, arguments: raw } = Object(block) as Readonly<Record<'type' | 'name' | 'arguments', unknown>>
    return type === 'tool-call' && typeof name === 'string' && typeof raw === 'string' ? [{ name, args: parsed(raw) }] : []
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
