import type { ContentBlock, Message } from '@loopguard/llm'
import type { Session, SessionEvent, TurnEndReason } from '@loopguard/session'

/**
 * A log as lines that a test can compare whole: one line an event, in order. Messages are named by their text, tool results by the id
 * of their call; `session/start` is left out, `request/header` too unless it is asked for.
 */
export function story(
  session: Pick<Session, 'events'>,
  { from = 0, headers = false }: { from?: number; headers?: boolean } = {},
): string[] {
  const names = new Map<string, string>()
  for (const { type, data } of session.events) {
    if (type === 'inbox/queued') names.set(data.message.id, words(data.message))
  }
  return session.events
    .slice(from)
    .filter(({ type }) => type !== 'session/start' && (headers || type !== 'request/header'))
    .map((event) => line(event, names))
}

function line(event: SessionEvent, names: ReadonlyMap<string, string>): string {
  switch (event.type) {
    case 'session/start':
      return `session/start ${event.data.id}${event.data.parent === undefined ? '' : ` of ${event.data.parent}`}`
    case 'turn/start':
      return `turn ${event.data.turn}`
    case 'step/start':
      return `step ${place(event.data)}`
    case 'user/message':
      return `user ${words(event.data)}`
    case 'request/header':
      return `header ${event.data.model}${(event.data.tools ?? []).map(({ name }) => ` ${name}`).join('')}`
    case 'request/failed': {
      const { attempt, failure, text } = event.data
      return `failed ${place(event.data)} attempt ${attempt}: ${failure.code}${text === undefined ? '' : ` after ${JSON.stringify(text)}`}`
    }
    case 'assistant/message': {
      const { message, interrupted } = event.data
      return `model ${words(message)}${interrupted === true ? ' (interrupted)' : ''}`
    }
    case 'tool/call':
      return `call ${event.data.callId}`
    case 'tool/result': {
      const [block] = event.data.message.content
      const code = event.data.error === undefined ? '' : ` ${event.data.error.code}`
      return `result ${block.toolCallId}${block.isError === true ? ' failed' : ''}${code === '' ? `: ${shown(block.content)}` : code}`
    }
    case 'step/end':
      return `end ${place(event.data)}`
    case 'turn/end':
      return `end ${event.data.turn} ${reason(event.data.reason)}`
    case 'inbox/queued':
      return `queued ${event.data.target}: ${words(event.data.message)}`
    case 'inbox/removed':
      return `${event.data.cause}: ${event.data.ids.map((id) => names.get(id) ?? id).join(', ')}`
    default:
      return (event as SessionEvent).type
  }
}

export function words({ content }: Pick<Message, 'content'>): string {
  return content.length === 0 ? '(nothing)' : shown(content)
}

function shown(content: readonly ContentBlock[]): string {
  return content
    .map((block) => {
      if (block.type === 'tool-call') return `[${block.id} ${block.name}(${block.arguments})]`
      return block.type === 'tool-result' ? `<${block.toolCallId}>` : block.text
    })
    .join(' ')
}

function reason(end: TurnEndReason): string {
  if (end.kind === 'aborted') return `aborted by ${end.reason.kind}`
  return end.kind === 'error' ? `error ${end.error.code}` : end.kind
}

const place = ({ turn, step }: { readonly turn: number; readonly step: number }): string => `${turn}.${step}`
