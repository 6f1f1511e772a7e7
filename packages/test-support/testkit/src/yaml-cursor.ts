import { readFileSync } from 'node:fs'
import { HarnessError, JsonError, keyHint, messageOf, snapshot } from '@loopguard/kit'
import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml'

/** A file that is not what it should be. The message starts with `<file>:<line>:<column>`. Code `BAD_SCRIPT`. */
export class ScriptError extends HarnessError {
  constructor(where: string, why: string, options?: ErrorOptions) {
    super(`${where}: ${why}`, 'BAD_SCRIPT', options)
    this.name = 'ScriptError'
  }
}

interface Source {
  readonly file: string
  readonly lines: LineCounter
  readonly document: Document
}

/** One node of a YAML file, with its place: every complaint says where, what was expected and what is there. */
export class YamlCursor {
  private readonly source: Source
  private readonly node: unknown
  /** Where to point when there is no node: an empty value. */
  private readonly near: Node | undefined

  constructor(source: Source, node: unknown, near?: Node) {
    this.source = source
    this.node = isAlias(node) ? (node.resolve(source.document) ?? node) : node
    this.near = hasRange(node) ? node : near
  }

  /** @throws ScriptError when the file cannot be read, or is not YAML. */
  static read(file: string): YamlCursor {
    let text
    try {
      text = readFileSync(file, 'utf8')
    } catch (error) {
      throw new ScriptError(file, `cannot be read: ${messageOf(error)}`, { cause: error })
    }
    const lines = new LineCounter()
    // Some editors begin a file with a byte order mark, which the parser takes for text.
    const document = parseDocument(text.startsWith('\ufeff') ? text.slice(1) : text, { lineCounter: lines, prettyErrors: false })
    const source = { file, lines, document }
    const fault = document.errors[0] ?? document.warnings[0]
    if (fault !== undefined) throw new ScriptError(placeOf(source, fault.pos[0]), fault.message, { cause: fault })
    return new YamlCursor(source, document.contents)
  }

  get kind(): 'list' | 'map' | 'scalar' {
    return isSeq(this.node) ? 'list' : isMap(this.node) ? 'map' : 'scalar'
  }

  /** The value of a scalar; `undefined` for anything else. */
  get scalar(): unknown {
    return isScalar(this.node) ? this.node.value : undefined
  }

  list(expected: string): YamlCursor[] {
    if (!isSeq(this.node)) throw this.fault(expected)
    return this.node.items.map((item) => new YamlCursor(this.source, item, this.near))
  }

  /** The values of a map, by key. Keys that are not known are refused, with the nearest one that is. */
  map<Key extends string>(expected: string, keys: readonly Key[]): Partial<Record<Key, YamlCursor>> {
    if (!isMap(this.node)) throw this.fault(expected)
    const values: Partial<Record<Key, YamlCursor>> = {}
    for (const { key, value } of this.node.items) {
      const name = String(isScalar(key) ? key.value : key) as Key
      const at = hasRange(key) ? key : this.near
      if (!keys.includes(name)) throw new ScriptError(this.where(at), `unknown key \`${name}\`${keyHint(name, keys)}`)
      values[name] = new YamlCursor(this.source, value, at)
    }
    return values
  }

  text(expected: string): string {
    return typeof this.scalar === 'string' ? this.scalar : this.refuse(expected)
  }

  /** Text that is not only white space. */
  words(expected: string): string {
    const words = this.text(expected)
    return words.trim() === '' ? this.refuse(expected) : words
  }

  integer(expected: string, min: number): number {
    const { scalar } = this
    return typeof scalar === 'number' && Number.isInteger(scalar) && scalar >= min ? scalar : this.refuse(expected)
  }

  oneOf<const Choice extends string>(choices: readonly Choice[]): Choice {
    const choice = choices.find((each) => each === this.scalar)
    return choice ?? this.refuse(choices.map((each) => `\`${each}\``).join(' or '))
  }

  /** The whole value below this node, as JSON. */
  json(name: string): unknown {
    try {
      return snapshot((this.node as Node | null | undefined)?.toJS(this.source.document) ?? null, name)
    } catch (error) {
      throw this.fault(`a value that JSON can hold (${error instanceof JsonError ? error.message : messageOf(error)})`)
    }
  }

  refuse(expected: string): never {
    throw this.fault(expected)
  }

  private fault(expected: string): ScriptError {
    return new ScriptError(this.where(hasRange(this.node) ? this.node : this.near), `expected ${expected}, got ${this.shown()}`)
  }

  private where(node: Node | undefined): string {
    return placeOf(this.source, node?.range?.[0] ?? 0)
  }

  private shown(): string {
    if (this.kind !== 'scalar') return `a ${this.kind}`
    if (isAlias(this.node)) return `\`*${this.node.source}\`, which nothing is named`
    if (typeof this.scalar === 'number') return String(this.scalar)
    return this.node === undefined || this.node === null ? 'nothing' : (JSON.stringify(this.scalar)?.slice(0, 80) ?? 'nothing')
  }
}

function hasRange(node: unknown): node is Node {
  return typeof node === 'object' && node !== null && 'range' in node && Array.isArray(node.range)
}

function placeOf({ file, lines }: Source, offset: number): string {
  const { line, col } = lines.linePos(offset)
  return `${file}:${Math.max(line, 1)}:${Math.max(col, 1)}`
}
