/** Where JSON text stops being JSON, and what could have stood there. */
export interface JsonFault {
  /** From 1. */
  readonly line: number
  /** From 1, in UTF-16 units. */
  readonly column: number
  readonly expected: string
  /** What stands there, for a message. */
  readonly got: string
}

const SPACE = /[ \t\r\n]*/y
const PLAIN = /[ !#-[\]-\uffff]*/y
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y
const SCALAR = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.+-])/y

/**
 * Finds the first place at which `text` is no JSON (RFC 8259); `undefined` when it is. `JSON.parse` gives an offset for some
 * faults only, so this walks the text again, with a stack of its own: nesting is no limit.
 */
export function findJsonFault(text: string): JsonFault | undefined {
  const scan = new Scan(text)
  const expected = scan.run()
  if (expected === undefined) return undefined
  const before = text.slice(0, scan.at)
  const line = before.split('\n').length
  return { line, column: scan.at - before.lastIndexOf('\n'), expected, got: shown(text.slice(scan.at, scan.at + 20)) }
}

const REST_OF_STRING = 'a character, an escape or the closing quote of a string'

type State = 'value' | 'first item' | 'first key' | 'key' | 'after value' | 'done'
type Step = { readonly next: State } | { readonly expected: string }

class Scan {
  at = 0
  private readonly text: string
  private readonly open: ('{' | '[')[] = []

  constructor(text: string) {
    this.text = text
  }

  /** What was expected where the walk stopped; `undefined` when it came to the end. */
  run(): string | undefined {
    let state: State = 'value'
    while (state !== 'done') {
      this.match(SPACE)
      const step: Step = this.step(state)
      if ('expected' in step) return step.expected
      state = step.next
    }
    return undefined
  }

  private step(state: Exclude<State, 'done'>): Step {
    switch (state) {
      case 'value':
        return this.value('a value')
      case 'first item':
        return this.take(']') ? this.close() : this.value('a value or `]`')
      case 'first key':
        return this.take('}') ? this.close() : this.key('a key in double quotes or `}`')
      case 'key':
        return this.key('a key in double quotes')
      case 'after value':
        return this.afterValue()
    }
  }

  private value(expected: string): Step {
    if (this.take('{')) return this.enter('{', 'first key')
    if (this.take('[')) return this.enter('[', 'first item')
    if (this.text[this.at] === '"') return this.string() ? { next: 'after value' } : { expected: REST_OF_STRING }
    return this.match(SCALAR) ? { next: 'after value' } : { expected }
  }

  /** Piece by piece: one pattern for all of a long string would overflow the stack. Stops where the string is broken. */
  private string(): boolean {
    this.at++
    for (;;) {
      this.match(PLAIN)
      if (this.take('"')) return true
      if (!this.match(ESCAPE)) return false
    }
  }

  private key(expected: string): Step {
    if (this.text[this.at] !== '"') return { expected }
    if (!this.string()) return { expected: REST_OF_STRING }
    this.match(SPACE)
    return this.take(':') ? { next: 'value' } : { expected: '`:`' }
  }

  private afterValue(): Step {
    const container = this.open.at(-1)
    if (container === undefined) return this.at === this.text.length ? { next: 'done' } : { expected: 'the end of the file' }
    const end = container === '{' ? '}' : ']'
    if (this.take(end)) return this.close()
    if (!this.take(',')) return { expected: `\`,\` or \`${end}\`` }
    return { next: container === '{' ? 'key' : 'value' }
  }

  private enter(container: '{' | '[', next: State): Step {
    this.open.push(container)
    return { next }
  }

  private close(): Step {
    this.open.pop()
    return { next: 'after value' }
  }

  private take(char: string): boolean {
    if (this.text[this.at] !== char) return false
    this.at++
    return true
  }

  private match(pattern: RegExp): boolean {
    pattern.lastIndex = this.at
    if (!pattern.test(this.text)) return false
    this.at = pattern.lastIndex
    return true
  }
}

function shown(rest: string): string {
  return rest === '' ? 'the end of the file' : JSON.stringify(rest)
}
