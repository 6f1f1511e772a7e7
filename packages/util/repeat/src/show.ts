const MAX_CHARS = 80

/** A value for a message: as JSON, cut after 80 characters. */
export function show(value: unknown): string {
  if (typeof value !== 'string' && (typeof value !== 'object' || value === null)) return cut(String(value))
  try {
    return cut(JSON.stringify(value))
  } catch {
    return 'what is no JSON'
  }
}

export function cut(text: string): string {
  return text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}…` : text
}
