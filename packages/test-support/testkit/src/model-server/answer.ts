import { chat } from './chat.ts'
import { google } from './google.ts'
import { messages } from './messages.ts'
import type { Dialect, ServedReply, Teller } from './reply.ts'
import { responses } from './responses.ts'

/** A frame that is sent; or something to wait for before the next one: a gate that opens, or a wait that begins when its turn has come. */
export type Piece = string | PromiseLike<unknown> | (() => PromiseLike<unknown>)

export interface SendOptions {
  /** Sends byte by byte, each in a packet of its own as far as the system lets it. */
  readonly bytewise?: boolean
  /** How the body ends: as HTTP wants it, with a broken connection, or not at all. Default `clean`. */
  readonly end?: 'clean' | 'break' | 'open'
  /** Sends only so many pieces. */
  readonly cutAfter?: number
}

/** One answer of the server. */
export interface ServerAnswer extends SendOptions {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: (dialect: Dialect) => readonly Piece[]
}

const TELLERS: Readonly<Record<Dialect, Teller>> = { chat, messages, responses, google }

/** A reply, told in the dialect of the request. */
export function says(reply: ServedReply, options: SendOptions = {}): ServerAnswer {
  return streams((dialect) => framesOf(dialect, reply), options)
}

/** An event stream of the test's own making. */
export function streams(body: readonly Piece[] | ((dialect: Dialect) => readonly Piece[]), options: SendOptions = {}): ServerAnswer {
  const headers = { 'content-type': 'text/event-stream' }
  return { status: 200, headers, body: typeof body === 'function' ? body : () => body, ...options }
}

/** Anything else: an HTTP error, a redirect, a page. An object is sent as JSON. */
export function answers(
  status: number,
  body: string | object = '',
  headers: Readonly<Record<string, string>> = {},
  options: SendOptions = {},
): ServerAnswer {
  const isText = typeof body === 'string'
  return {
    status,
    headers: { 'content-type': isText ? 'text/plain' : 'application/json', ...headers },
    body: () => [isText ? body : JSON.stringify(body)],
    ...options,
  }
}

/** The frames in which a dialect tells a reply. */
export function framesOf(dialect: Dialect, reply: ServedReply): string[] {
  return TELLERS[dialect](reply)
}
