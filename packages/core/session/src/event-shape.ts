import { show } from '@loopguard/kit'
import { messageFault } from '@loopguard/llm'

type Check = (data: Readonly<Record<string, unknown>>) => string | undefined

/** What this package reads of an event, by type. The rest is the writer's business. */
const CHECKS: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['session/start', (data) => natural(data, 'version') ?? text(data, 'id')],
  ['turn/start', (data) => natural(data, 'turn')],
  ['turn/end', (data) => natural(data, 'turn')],
  ['step/start', place],
  ['step/end', place],
  ['user/message', (data) => message(data, 'data', 'user')],
  ['assistant/message', (data) => place(data) ?? message(data['message'], 'data.message', 'assistant')],
  ['request/failed', place],
  ['request/retry', place],
  ['tool/call', (data) => place(data) ?? text(data, 'callId')],
  ['tool/result', (data) => place(data) ?? result(data['message'])],
  ['inbox/queued', (data) => target(data['target']) ?? message(data['message'], 'data.message', 'user')],
  ['inbox/removed', (data) => ids(data['ids'])],
])

/** The message that an event holds, whole: asked of an append alone, since a load takes what an earlier version wrote. */
const MESSAGES: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['user/message', (data) => messageFault(data, 'user', 'data')],
  ['assistant/message', (data) => messageFault(data['message'], 'assistant', 'data.message')],
  ['tool/result', (data) => messageFault(data['message'], 'user', 'data.message')],
  ['inbox/queued', (data) => messageFault(data['message'], 'user', 'data.message')],
])

/** Why an event cannot be appended, if it cannot. It asks all that a load asks, so what was committed can be loaded. */
export function faultOfAppend(type: string, data: unknown, seq: number): string | undefined {
  return faultOfEvent(type, data, seq) ?? MESSAGES.get(type)?.(data as Readonly<Record<string, unknown>>)
}

/** Why an event of a known type cannot be read again, if it cannot. */
export function faultOfEvent(type: string, data: unknown, seq: number): string | undefined {
  if ((type === 'session/start') !== (seq === 0))
    return seq === 0 ? 'the first event must be session/start' : 'session/start must come first'
  const check = CHECKS.get(type)
  if (check === undefined) return undefined
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return `data must be an object, got ${show(data)}`
  return check(data as Readonly<Record<string, unknown>>)
}

function natural(data: Readonly<Record<string, unknown>>, key: string): string | undefined {
  const value = data[key]
  if (Number.isSafeInteger(value) && (value as number) >= 1) return undefined
  return `data.${key} must be an integer >= 1, got ${show(value)}`
}

function text(data: Readonly<Record<string, unknown>>, key: string): string | undefined {
  return typeof data[key] === 'string' ? undefined : `data.${key} must be text, got ${show(data[key])}`
}

function place(data: Readonly<Record<string, unknown>>): string | undefined {
  return natural(data, 'turn') ?? natural(data, 'step')
}

function message(value: unknown, path: string, role: string): string | undefined {
  const { id, role: actual, content } = (value ?? {}) as { id?: unknown; role?: unknown; content?: unknown }
  if (typeof id !== 'string' || actual !== role) return `${path} must be a message of role "${role}" with an id, got ${show(value)}`
  return Array.isArray(content) ? undefined : `${path}.content must be a list of blocks, got ${show(content)}`
}

function result(value: unknown): string | undefined {
  const callId = (value as { source?: { callId?: unknown } } | undefined)?.source?.callId
  return message(value, 'data.message', 'user') ?? (typeof callId === 'string' ? undefined : 'data.message.source must name a callId')
}

function target(value: unknown): string | undefined {
  return value === 'next-step' || value === 'next-turn' ? undefined : `data.target must be next-step or next-turn, got ${show(value)}`
}

function ids(value: unknown): string | undefined {
  return Array.isArray(value) ? undefined : `data.ids must be a list, got ${show(value)}`
}
