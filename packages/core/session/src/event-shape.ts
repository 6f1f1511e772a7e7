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
  ['tool/call', (data) => place(data) ?? text(data, 'callId')],
  ['tool/result', (data) => place(data) ?? result(data['message'])],
  ['inbox/queued', (data) => target(data['target']) ?? message(data['message'], 'data.message', 'user')],
  ['inbox/removed', (data) => ids(data['ids'])],
])

/**
 * Why an event of a known type cannot be read again, if it cannot. Appending and loading ask the same question, so whatever was
 * committed can be loaded.
 */
export function faultOfEvent(type: string, data: unknown, seq: number): string | undefined {
  if ((type === 'session/start') !== (seq === 0))
    return seq === 0 ? 'the first event must be session/start' : 'session/start must come first'
  const check = CHECKS.get(type)
  if (check === undefined) return undefined
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return `data must be an object, got ${shown(data)}`
  return check(data as Readonly<Record<string, unknown>>)
}

function natural(data: Readonly<Record<string, unknown>>, key: string): string | undefined {
  const value = data[key]
  if (Number.isSafeInteger(value) && (value as number) >= 1) return undefined
  return `data.${key} must be an integer >= 1, got ${shown(value)}`
}

function text(data: Readonly<Record<string, unknown>>, key: string): string | undefined {
  return typeof data[key] === 'string' ? undefined : `data.${key} must be text, got ${shown(data[key])}`
}

function place(data: Readonly<Record<string, unknown>>): string | undefined {
  return natural(data, 'turn') ?? natural(data, 'step')
}

function message(value: unknown, path: string, role: string): string | undefined {
  const { id, role: actual, content } = (value ?? {}) as { id?: unknown; role?: unknown; content?: unknown }
  if (typeof id !== 'string' || actual !== role) return `${path} must be a message of role "${role}" with an id, got ${shown(value)}`
  return Array.isArray(content) ? undefined : `${path}.content must be a list of blocks, got ${shown(content)}`
}

function result(value: unknown): string | undefined {
  const callId = (value as { source?: { callId?: unknown } } | undefined)?.source?.callId
  return message(value, 'data.message', 'user') ?? (typeof callId === 'string' ? undefined : 'data.message.source must name a callId')
}

function target(value: unknown): string | undefined {
  return value === 'next-step' || value === 'next-turn' ? undefined : `data.target must be next-step or next-turn, got ${shown(value)}`
}

function ids(value: unknown): string | undefined {
  return Array.isArray(value) ? undefined : `data.ids must be a list, got ${shown(value)}`
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? String(value)).slice(0, 100)
}
