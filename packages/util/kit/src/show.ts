const MAX_CHARS = 80

/** A value in a few words, for an error message. Never throws. */
export function show(value: unknown): string {
  if (typeof value === 'string') return clip(JSON.stringify(value), MAX_CHARS)
  if (typeof value === 'function') return 'a function'
  if (typeof value !== 'object' || value === null) return clip(String(value), MAX_CHARS)
  return isArray(value) ? 'an array' : 'an object'
}

/** `text`, or its first `max` code points with a mark that some are missing: a surrogate pair is never cut. */
export function clip(text: string, max: number): string {
  if (text.length <= max) return text
  const points = Array.from(text.slice(0, max * 2))
  return points.length <= max && text.length <= max * 2 ? text : `${points.slice(0, max).join('')}…`
}

/** A revoked proxy makes even this throw. */
function isArray(value: object): boolean {
  try {
    return Array.isArray(value)
  } catch {
    return false
  }
}
