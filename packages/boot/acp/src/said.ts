import type { ContentChunk, SessionUpdate } from '@agentclientprotocol/sdk'

type Kind = 'user_message_chunk' | 'agent_message_chunk' | 'agent_thought_chunk'

/** A piece of a message. @param loopguard - what is said of it beside the protocol, under `_meta.loopguard`. */
export function said(sessionUpdate: Kind, text: string, messageId: string, loopguard?: object): SessionUpdate {
  const chunk: ContentChunk = { content: { type: 'text', text }, messageId, ...(loopguard !== undefined && { _meta: { loopguard } }) }
  return { sessionUpdate, ...chunk }
}
