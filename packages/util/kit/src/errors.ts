/** A failure with a stable code. Callers branch on `code`, never on text. */
export class HarnessError extends Error {
  readonly code: string

  constructor(message: string, code: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'HarnessError'
    this.code = code
  }
}

/** The message of a thrown value. Never throws itself. */
export function messageOf(thrown: unknown): string {
  try {
    if (thrown instanceof Error) return String(thrown.message)
    return typeof thrown === 'object' && thrown !== null && 'message' in thrown ? String(thrown.message) : String(thrown)
  } catch {
    return 'a value that cannot be shown was thrown'
  }
}

/** The string `code` of a thrown value, if it has one. Never throws itself. */
export function codeOf(thrown: unknown): string | undefined {
  try {
    const code: unknown = typeof thrown === 'object' && thrown !== null && 'code' in thrown ? thrown.code : undefined
    return typeof code === 'string' ? code : undefined
  } catch {
    return undefined
  }
}
