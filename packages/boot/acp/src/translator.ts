import type { SessionUpdate, ToolCallContent } from '@agentclientprotocol/sdk'
import type { DeltaEvent } from '@loopguard/agent-loop'
import type { AssistantMessage, CallId, ContentBlock, MessageId, UserMessage } from '@loopguard/llm'
import type { SessionEvent } from '@loopguard/session'
import { inputOf, kindOf, titleOf } from './call-title.ts'
import { said } from './said.ts'
import { Streamed } from './streamed.ts'

/** Turns the log of one session, and what is said meanwhile, into updates for a client. To be told of everything in order. */
export class Translator {
  /** The call that a message came with. */
  private readonly calls = new Map<MessageId, CallId>()
  private attempt = 1
  private streamed: Streamed | undefined

  /** @param isEcho - a user message that the client has sent itself is not sent back. */
  event({ type, data }: SessionEvent, isEcho: boolean): SessionUpdate[] {
    switch (type) {
      case 'step/start':
        this.attempt = 1
        this.streamed = undefined
        return []
      case 'user/message':
        return isEcho ? [] : this.userMessage(data)
      case 'request/failed':
        return this.failed(data.attempt, data.failure)
      case 'assistant/message':
        return this.answer(data.message, `${data.turn}.${data.step}.${this.attempt}`)
      case 'tool/call':
        return [{ sessionUpdate: 'tool_call_update', toolCallId: data.callId, status: 'in_progress' }]
      case 'tool/result': {
        const [{ toolCallId, content, isError }] = data.message.content
        for (const id of data.contextIds ?? []) this.calls.set(id, toolCallId)
        return [
          {
            sessionUpdate: 'tool_call_update',
            toolCallId,
            status: isError === true ? 'failed' : 'completed',
            content: content.map(shown),
            ...(data.error !== undefined && { _meta: { loopguard: { error: data.error } } }),
          },
        ]
      }
      default:
        return []
    }
  }

  delta({ turn, step, attempt, chunk }: DeltaEvent): SessionUpdate[] {
    const id = `${turn}.${step}.${attempt}`
    if (this.streamed?.id !== id) this.streamed = new Streamed(id)
    return this.streamed.take(chunk)
  }

  private userMessage({ id, content, source }: UserMessage): SessionUpdate[] {
    if (source.kind === 'user') return content.map((block) => said('user_message_chunk', wordsOf(block), id))
    const callId = this.calls.get(id)
    this.calls.delete(id)
    const meta = {
      // What comes with a result speaks of that call; what comes by itself, such as the end of a job, of something else.
      kind: callId === undefined ? 'notice' : 'reminder',
      plugin: source.kind === 'plugin' ? source.plugin : source.kind,
      ...(callId !== undefined && { callId }),
    }
    return [said('agent_thought_chunk', content.map(wordsOf).join(''), id, meta)]
  }

  private failed(attempt: number, { code, message }: { readonly code: string; readonly message: string }): SessionUpdate[] {
    this.attempt = attempt + 1
    const { streamed } = this
    this.streamed = undefined
    if (streamed?.isEmpty !== false) return []
    const meta = { kind: 'request-failed', messageId: streamed.id, error: { code } }
    return [
      said('agent_thought_chunk', `The request failed (${code}: ${message}); what it had said is void.`, `${streamed.id}.failed`, meta),
    ]
  }

  private answer({ content }: AssistantMessage, id: string): SessionUpdate[] {
    const rest = this.streamed?.id === id ? this.streamed : undefined
    this.streamed = undefined
    return content.flatMap((block): SessionUpdate[] => {
      if (block.type === 'tool-call') return [call(block)]
      if (block.type === 'tool-result') return []
      const words = rest?.restOf(block) ?? block.text
      return words === '' ? [] : [said(block.type === 'text' ? 'agent_message_chunk' : 'agent_thought_chunk', words, id)]
    })
  }
}

/** A call is announced when the model has made it: it may be asked about, or denied, before it is logged as started. */
function call({ id, name, arguments: args }: Extract<ContentBlock, { type: 'tool-call' }>): SessionUpdate {
  return {
    sessionUpdate: 'tool_call',
    toolCallId: id,
    title: titleOf(name, args),
    name,
    kind: kindOf(name),
    status: 'pending',
    rawInput: inputOf(args),
  }
}

function shown(block: ContentBlock): ToolCallContent {
  return { type: 'content', content: { type: 'text', text: wordsOf(block) } }
}

function wordsOf(block: ContentBlock): string {
  return block.type === 'text' || block.type === 'reasoning' ? block.text : `[${block.type}]`
}
