import type { LlmError } from '@loopguard/llm'
import type { Failures } from './failure.ts'
import { parsed } from './read-error.ts'
import { retryAfterMs } from './retry-after.ts'

/** The failure that an answer is which is no stream of events: an error, a redirect, a page. `body` is what was read of it. */
export function refusal({ status, headers, ok }: Response, body: string, failures: Failures): LlmError {
  const wait = retryAfterMs(headers)
  const requestId = headers.get('x-request-id') ?? headers.get('request-id')
  const more = { ...(wait !== undefined && { retryAfterMs: wait }), ...(requestId !== null && { requestId }) }
  if (status >= 300 && status < 400) {
    const place = headers.get('location') ?? 'nowhere'
    return failures.make(`HTTP_${status}`, `answered ${status}, and a redirect is not followed`, place, more)
  }
  if (!ok) return failures.http(status, body, more)
  const answer = parsed(body)
  if (answer?.['error']) return failures.inBand(answer, more)
  const type = (headers.get('content-type') ?? '').slice(0, 100)
  return failures.make('MALFORMED_RESPONSE', `answered with ${type} and not with a stream of events`, body, more)
}
