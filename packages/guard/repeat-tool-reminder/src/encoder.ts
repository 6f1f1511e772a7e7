import { createHash, hash, type Hash } from 'node:crypto'

/** What a token is, in its three low bits. The rest is a count, an index or the value itself. */
export const Kind = {
  /** Text in UTF-8; the count is its length in UTF-16 units. */
  text: 0,
  /** The same in UTF-16: UTF-8 would make every lone surrogate one and the same character. */
  wideText: 1,
  /** A longer text, as a row of the two above. */
  longText: 2,
  /** A 32-bit integer, zigzag. */
  integer: 3,
  /** The items follow. */
  array: 4,
  /** An object: its keys follow, then its values. */
  shape: 5,
  /** An object with the keys that were written last for this slot: its values follow. */
  repeatedShape: 6,
  /** One of {@link Constant}. */
  constant: 7,
} as const

export const Constant = {
  null: 0,
  true: 1,
  false: 2,
  /** The eight bytes of a double follow. */
  double: 3,
  /** A text follows that tells apart what JSON cannot hold. */
  other: 4,
} as const

const CAPACITY = 65_536
/** The longest text written in one piece; three bytes for each of its units fit the buffer with room to spare. */
const PIECE = 8_192
/** Up to this length a loop over the characters beats the call into native code. */
const SHORT = 100
/** No token, and no number, takes more. */
const TOKEN = 16

const MAX_INT = 0x7fff_ffff

const double = new Float64Array(1)
const doubleBytes = new Uint8Array(double.buffer)

/** The buffer of the last encoder that ended. One that starts meanwhile makes its own. */
let spare: Buffer | undefined

/**
 * Writes tokens and hashes them: the bytes pass through one fixed buffer, so the cost in memory is that buffer whatever the size of
 * the text. The stream can be read back, so that two different streams of tokens never give the same bytes.
 */
export class Encoder {
  /** Bytes hashed so far, without those in the buffer: a function of what was written alone. */
  hashed = 0
  private readonly buffer: Buffer = spare ?? Buffer.allocUnsafeSlow(CAPACITY)
  private at = 0
  private hash: Hash | undefined

  constructor() {
    spare = undefined
  }

  /** `count` is a non-negative safe integer below 2^50. */
  token(kind: number, count: number): void {
    this.reserve(TOKEN)
    const { buffer } = this
    let { at } = this
    let rest = count * 8 + kind
    while (rest > 127) {
      buffer[at++] = (rest & 127) | 128
      rest = rest > MAX_INT ? Math.floor(rest / 128) : rest >> 7
    }
    buffer[at++] = rest
    this.at = at
  }

  number(value: number): void {
    const integer = value | 0
    if (integer === value) {
      this.token(Kind.integer, integer < 0 ? -2 * integer - 1 : 2 * integer)
    } else if (Number.isFinite(value)) {
      this.token(Kind.constant, Constant.double)
      double[0] = value
      this.buffer.set(doubleBytes, this.at)
      this.at += doubleBytes.length
    } else {
      this.other(String(value))
    }
  }

  text(value: string): void {
    if (value.length <= PIECE) {
      this.piece(value)
      return
    }
    this.token(Kind.longText, value.length)
    for (let from = 0; from < value.length; from += PIECE) this.piece(value.slice(from, from + PIECE))
  }

  other(value: string): void {
    this.token(Kind.constant, Constant.other)
    this.text(value)
  }

  /** The digest of everything written. The encoder is spent. */
  digest(): string {
    const rest = this.buffer.subarray(0, this.at)
    return this.hash === undefined ? hash('sha256', rest, 'base64url') : this.hash.update(rest).digest('base64url')
  }

  /** Gives the buffer back. */
  release(): void {
    spare = this.buffer
  }

  private piece(value: string): void {
    const { length } = value
    this.reserve(TOKEN + length * 3)
    const start = this.at
    this.token(Kind.text, length)
    if (length <= SHORT && this.ascii(value)) return
    if (isWellFormed(value)) {
      this.at += this.buffer.write(value, this.at, 'utf8')
    } else {
      this.at = start
      this.token(Kind.wideText, length)
      this.at += this.buffer.write(value, this.at, 'utf16le')
    }
  }

  /** Writes `value` if it is ASCII; if not, nothing. */
  private ascii(value: string): boolean {
    const { buffer } = this
    let { at } = this
    for (let index = 0; index < value.length; index++) {
      const unit = value.charCodeAt(index)
      if (unit > 127) return false
      buffer[at++] = unit
    }
    this.at = at
    return true
  }

  private reserve(bytes: number): void {
    if (this.at + bytes <= CAPACITY) return
    this.hash ??= createHash('sha256')
    this.hash.update(this.buffer.subarray(0, this.at))
    this.hashed += this.at
    this.at = 0
  }
}

/** ES2024; every Node that this package runs on has it. */
function isWellFormed(value: string): boolean {
  return (value as string & { isWellFormed(): boolean }).isWellFormed()
}
