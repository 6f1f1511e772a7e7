/**
 * How long a provider asks to wait, in milliseconds: from `retry-after-ms`, or from `retry-after` in seconds or as a date (RFC 9110).
 * `undefined` when it does not say, says no time to come, or says something else.
 */
export function retryAfterMs(headers: Headers, now: number = Date.now()): number | undefined {
  const precise = positive(headers.get('retry-after-ms'))
  if (precise !== undefined) return precise
  const text = headers.get('retry-after')
  if (text === null) return undefined
  const seconds = positive(text)
  if (seconds !== undefined) return seconds * 1000
  // A bare number is no date, though `Date.parse` makes one of it.
  const wait = /[a-z]/i.test(text) ? Date.parse(text) - now : NaN
  return wait > 0 ? wait : undefined
}

function positive(text: string | null): number | undefined {
  const number = text === null || text.trim() === '' ? NaN : Number(text)
  return number > 0 && Number.isFinite(number) ? number : undefined
}
