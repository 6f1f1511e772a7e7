declare const brand: unique symbol

/** A string that names one kind of thing; the brand exists for the type checker only. */
type Branded<Name extends string> = string & { readonly [brand]: Name }

/** Names one tool call, as the model issued it. */
export type CallId = Branded<'CallId'>
/** Names one message. */
export type MessageId = Branded<'MessageId'>
/** Names one session, and the agent that owns it. */
export type SessionId = Branded<'SessionId'>

/** Brands a string; checks nothing. */
export function CallId(id: string): CallId {
  return id as CallId
}

/** Brands a string; checks nothing. */
export function MessageId(id: string): MessageId {
  return id as MessageId
}

/** Brands a string; checks nothing. */
export function SessionId(id: string): SessionId {
  return id as SessionId
}
