import { HarnessError } from '@loopguard/kit'

/** A transcript that is not what it should be. The message starts with file and position. Code `BAD_TRANSCRIPT`. */
export class TranscriptError extends HarnessError {
  constructor(where: string, why: string, options?: ErrorOptions) {
    super(where === '' ? why : `${where}: ${why}`, 'BAD_TRANSCRIPT', options)
    this.name = 'TranscriptError'
  }
}

/** One value of a JSON file, with its path, such as `messages[12].tool_calls[0].function.name`. */
export class JsonCursor {
  readonly value: unknown
  /** Empty for the whole file. */
  readonly path: string
  private readonly file: string

  constructor(file: string, value: unknown, path = '') {
    this.file = file
    this.value = value
    this.path = path
  }

  /** Whether the key is missing or null; serialisers write null for what is not there. */
  lacks(key: string): boolean {
    return (this.record()[key] ?? undefined) === undefined
  }

  at(key: string): JsonCursor {
    return new JsonCursor(this.file, this.record()[key], this.path === '' ? key : `${this.path}.${key}`)
  }

  /** The same value under another name. */
  named(name: string): JsonCursor {
    return new JsonCursor(this.file, this.value, name)
  }

  items(expected: string): JsonCursor[] {
    if (!Array.isArray(this.value)) throw this.fault(expected)
    return this.value.map((item, index) => new JsonCursor(this.file, item, `${this.path}[${index}]`))
  }

  text(expected: string): string {
    if (typeof this.value !== 'string') throw this.fault(expected)
    return this.value
  }

  words(expected: string): string {
    const words = this.text(expected)
    if (words.trim() === '') throw this.fault(expected)
    return words
  }

  flag(): boolean {
    if (typeof this.value !== 'boolean') throw this.fault('true or false')
    return this.value
  }

  fault(expected: string): TranscriptError {
    return new TranscriptError(
      this.path === '' ? this.file : `${this.file}: ${this.path}`,
      `expected ${expected}, got ${shown(this.value)}`,
    )
  }

  private record(): Record<string, unknown> {
    if (typeof this.value !== 'object' || this.value === null || Array.isArray(this.value)) throw this.fault('an object')
    return this.value as Record<string, unknown>
  }
}

/** A value for a message: what it holds if it is large. */
export function shown(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (Array.isArray(value)) return `an array of ${value.length}`
  if (typeof value === 'object' && value !== null) return `an object with ${keysOf(value)}`
  const text = JSON.stringify(value)
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}

function keysOf(value: object): string {
  const keys = Object.keys(value)
  return keys.length === 0 ? 'no keys' : `the keys ${keys.slice(0, 5).join(', ')}${keys.length > 5 ? ', …' : ''}`
}
