/** Only text with an exponent, or with more digits than a double can hold, can spell a number out of range. */
const MAY_OVERFLOW = /[eE]|\d{300}/

/**
 * What a tool call's raw argument text stands for: `''` is `{}`; text that is no JSON, and text with a number out of range, stays
 * the text that it is, so that different calls stay different.
 */
export function parseArguments(raw: string): unknown {
  if (raw === '') return {}
  let value: unknown
  try {
    value = JSON.parse(raw)
  } catch {
    return raw
  }
  return MAY_OVERFLOW.test(raw) && holdsInfinity(value) ? raw : value
}

function holdsInfinity(root: unknown): boolean {
  const pending = [root]
  while (pending.length > 0) {
    const value = pending.pop()
    if (typeof value === 'number' && !Number.isFinite(value)) return true
    if (typeof value === 'object' && value !== null) for (const item of Object.values(value)) pending.push(item)
  }
  return false
}
