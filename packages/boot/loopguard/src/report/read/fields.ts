/** What a log may hold at any place: a field of a value that has been read as something else is absent, never a fault. */
export class Fields {
  private readonly value: Readonly<Record<string, unknown>>

  constructor(value: unknown) {
    this.value = Object(value) as Readonly<Record<string, unknown>>
  }

  at(key: string): Fields {
    return new Fields(this.value[key])
  }

  text(key: string): string | undefined {
    const value = this.value[key]
    return typeof value === 'string' ? value : undefined
  }

  /** A finite number that is not negative. */
  amount(key: string): number | undefined {
    const value = this.value[key]
    return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined
  }

  items(key: string): readonly Fields[] {
    const value = this.value[key]
    return Array.isArray(value) ? value.map((item) => new Fields(item)) : []
  }

  texts(key: string): readonly string[] {
    const value = this.value[key]
    return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
  }

  flag(key: string): boolean {
    return this.value[key] === true
  }

  has(key: string): boolean {
    return (this.value[key] ?? undefined) !== undefined
  }

  json(): string {
    return JSON.stringify(this.value)
  }
}

/** The text of a message's blocks, as a guard reads it. */
export function textOf(blocks: readonly Fields[]): string {
  return blocks.map((block) => (block.text('type') === 'text' ? (block.text('text') ?? '') : block.json())).join('\n')
}
