import { clip } from '@loopguard/kit'
import { LlmError, type LlmErrorOptions } from '@loopguard/llm'
import { isRecord, parsed, readError } from './read-error.ts'
import type { Redact } from './redact.ts'

/** What is known of a failed request, by the words that came with it. */
interface Evidence {
  /** Of HTTP, or the one that an error inside of a stream stands for. */
  readonly status?: number | undefined
  /** All that the provider said, to look for wording. */
  readonly words: string
  /** It came inside of a stream that had begun well. */
  readonly inBand?: boolean
}

const QUOTA = /insufficient[_ ](?:quota|balance|funds)|quota|billing|(?:credit|account) balance|out of credit/i
const CONTEXT = /context[_ -]?(?:length|window)|maximum context|prompt is too long|input is too long|too many (?:input )?tokens/i
const RATE = /rate[_ -]?limit|too many requests/i
const RETRYABLE: ReadonlySet<string> = new Set(['TIMEOUT', 'RATE_LIMIT', 'SERVER', 'TRANSPORT', 'STREAM_CLOSED', 'EMPTY_RESPONSE'])
const MAX_SHOWN = 500

/** The code of an answer that is an error: the first row of the table that fits. */
function codeOf({ status = 0, words, inBand = false }: Evidence): string {
  const at = (...statuses: number[]): boolean => statuses.includes(status)
  if (at(408)) return 'TIMEOUT'
  if (at(402) || ((inBand || at(400, 403, 429)) && QUOTA.test(words))) return 'QUOTA_EXCEEDED'
  if (at(401, 403)) return 'AUTH'
  if (at(429) || (inBand && RATE.test(words))) return 'RATE_LIMIT'
  if ((inBand || at(400, 413)) && CONTEXT.test(words)) return 'CONTEXT_WINDOW_EXCEEDED'
  if (at(400, 404, 413, 422)) return 'INVALID_REQUEST'
  return inBand || status >= 500 ? 'SERVER' : `HTTP_${status}`
}

/** Makes the failures of one provider: every text in them is redacted first and cut then, and none has a cause. */
export class Failures {
  private readonly who: string
  private readonly redact: Redact

  constructor(provider: string, redact: Redact) {
    this.who = `provider "${provider}"`
    this.redact = redact
  }

  /** A failure in our words, with the provider's at its end. The SDK's errors hold the whole conversation, so none becomes a cause. */
  make(code: string, says: string, told: string, options: LlmErrorOptions = {}): LlmError {
    const shown = clip(this.redact(told).trim(), MAX_SHOWN)
    const { requestId, ...rest } = { retryable: RETRYABLE.has(code), ...options }
    return new LlmError(`${this.who} ${this.redact(says)}${shown === '' ? '' : `: ${shown}`}`, code, {
      ...rest,
      ...(requestId !== undefined && { requestId: clip(this.redact(requestId), MAX_SHOWN) }),
    })
  }

  /** An HTTP answer that is an error; `body` is what was read of it. */
  http(status: number, body: string, options: LlmErrorOptions): LlmError {
    const { message, words } = readError(parsed(body) ?? body)
    return this.make(codeOf({ status, words }), `answered ${status}`, message, { status, ...options })
  }

  /** An error in place of the next event of a stream, or of the whole stream. */
  inBand(error: unknown, options: LlmErrorOptions = {}): LlmError {
    const { message, words, status, type } = readError(error)
    return this.make(codeOf({ status: status ?? type, words, inBand: true }), 'sent an error', message, {
      ...(status !== undefined && { status }),
      ...options,
    })
  }

  /** What `fetch` threw, or the body that it gave. */
  network(thrown: unknown): LlmError {
    const chain = causes(thrown)
    const codes = chain.map(({ code }) => code).filter((code) => typeof code === 'string')
    const message = [codes.at(-1), chain.at(-1)?.message].filter((part) => typeof part === 'string' && part !== '').join(' ')
    if (codes.some((code) => code === 'ETIMEDOUT' || code === 'UND_ERR_CONNECT_TIMEOUT'))
      return this.make('TIMEOUT', 'could not be reached in time', message)
    // `fetch` fails with this for everything but a request that it refuses to send.
    const isNetwork = codes.length > 0 || /^(?:fetch failed|terminated)$/.test(chain[0]?.message ?? '')
    if (isNetwork) return this.make('TRANSPORT', 'could not be reached, or its connection broke', message)
    return this.make('INVALID_REQUEST', 'got no request, because it cannot be sent', message)
  }
}

interface Cause {
  readonly code?: unknown
  readonly message?: string
  readonly cause?: unknown
}

function causes(thrown: unknown): Cause[] {
  const chain: Cause[] = []
  for (let link = thrown; isRecord(link) && chain.length < 8; link = (link as Cause).cause) chain.push(link as Cause)
  return chain
}
