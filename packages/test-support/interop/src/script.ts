// A model that does as it is told: the chunks and the queue that both loops' adapters share.
import type { Call, Message } from './host.ts'
import { transcript } from './transcript.ts'

/** One answer, in the chunk vocabulary that both harnesses speak. */
function answer(calls: readonly Call[], nextId: () => string): object[] {
  const blocks = calls.length === 0 ? [{ type: 'text', text: 'done' }] : calls.map((call) => toolCall(call, nextId()))
  return [
    ...blocks.flatMap((block, index) => [
      { type: 'block-start', index, blockType: block.type },
      'text' in block
        ? { type: 'text-delta', index, text: block.text }
        : { type: 'tool-call-delta', index, id: block.id, name: block.name, argumentsDelta: block.arguments },
      { type: 'block-end', index, block },
    ]),
    { type: 'usage', usage: { inputTokens: 1, outputTokens: 1 } },
    { type: 'finish', reason: { kind: calls.length === 0 ? 'stop' : 'tool-calls' } },
  ]
}

function toolCall(call: Call, id: string): { type: 'tool-call'; id: string; name: string; arguments: string } {
  const text = typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments)
  return { type: 'tool-call', id, name: call.name, arguments: text }
}

/** The scripts of all agents of one host, told apart by the model name, and what the model has read. */
export class Scripts {
  private readonly queues = new Map<string, (readonly Call[])[]>()
  private readonly read = new Map<string, readonly Message[]>()
  private ids = 0

  /** Queues the answers of one turn; the last one closes it. */
  queue(model: string, steps: readonly (readonly Call[])[]): void {
    this.queues.set(model, [...steps, []])
  }

  stream(model: string, messages: readonly Message[]): object[] {
    this.read.set(model, messages)
    const calls = this.queues.get(model)?.shift()
    if (calls === undefined) throw new Error(`the script of ${model} has no answer left`)
    return answer(calls, () => `call-${this.ids++}`)
  }

  /** What the model has read since `opening`, that message left out. */
  since(model: string, opening: Message): string[] {
    const messages = this.read.get(model) ?? []
    const start = messages.findIndex((message) => message.id === opening.id)
    if (start === -1) throw new Error(`${model} never read its opening message`)
    const left = this.queues.get(model)?.length ?? 0
    if (left > 0) throw new Error(`${model} stopped with ${left} answers left in its script`)
    return transcript(messages.slice(start + 1))
  }
}
