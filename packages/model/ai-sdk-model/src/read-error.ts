/** What an error of a provider says. */
interface ReadError {
  readonly message: string
  readonly words: string
  /** The status that it names by number. */
  readonly status?: number | undefined
  /** The status that its type stands for. */
  readonly type?: number | undefined
}

/** What an error says, in the shapes that providers use: text, `{ error }`, `{ message }`, `{ detail }`, a list of such, a failed response. */
export function readError(value: unknown): ReadError {
  if (!isRecord(value)) return { message: String(value), words: String(value) }
  const words = JSON.stringify(value)
  const error = innermost(value)
  const message = [error['message'], error['detail'], error['error']].find((text) => typeof text === 'string') ?? words
  return { message: message as string, words, ...statusOf(error) }
}

/** The record that has the words: errors stand in errors, but not for ever. */
function innermost(value: Record<string, unknown>): Record<string, unknown> {
  let outer = value
  for (let depth = 0; depth < 5; depth++) {
    const [first] = Array.isArray(outer) ? (outer as unknown[]) : []
    const { response } = outer
    const inner = first ?? outer['error'] ?? (isRecord(response) ? response['error'] : undefined)
    if (!isRecord(inner)) break
    outer = inner
  }
  return outer
}

/** What Anthropic and OpenAI call the errors that they send with these statuses. */
const TYPES: readonly (readonly [RegExp, number])[] = [
  [/authentication|invalid_api_key/i, 401],
  [/permission/i, 403],
  [/request_too_large/i, 413],
  [/invalid_request|not_found|invalid_prompt|bad_request/i, 400],
]

function statusOf(error: Record<string, unknown>): Pick<ReadError, 'status' | 'type'> {
  const named = [error['code'], error['status'], error['type']].filter((part) => typeof part === 'string' || typeof part === 'number')
  return {
    status: named.map(Number).find((code) => Number.isInteger(code) && code >= 400 && code <= 599),
    type: TYPES.find(([type]) => named.some((part) => type.test(String(part))))?.[1],
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

/** The object or list that text is the JSON of, if it is. */
export function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}
