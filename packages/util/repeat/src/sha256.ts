/** A SHA-256 (FIPS 180-4) of text in UTF-8. */
export interface Digest {
  update(text: string): Digest
  digest(encoding: 'hex'): string
}

/** That of Node where there is one, which is asked for when it is needed: not every runtime has it. */
export function sha256(): Digest {
  return nodeCrypto()?.createHash('sha256') ?? new OwnSha256()
}

/** The digest of one text, in hexadecimal digits. */
export function digestOf(text: string): string {
  return nodeCrypto()?.hash?.('sha256', text) ?? sha256().update(text).digest('hex')
}

interface NodeCrypto {
  createHash(name: string): Digest
  /** In one go, twice as fast for short texts. Not in every runtime that has the other. */
  hash?(name: string, text: string): string
}

function nodeCrypto(): NodeCrypto | undefined {
  const { process } = globalThis as { readonly process?: { getBuiltinModule?(name: string): NodeCrypto } }
  return process?.getBuiltinModule?.('node:crypto')
}

interface Constants {
  readonly primes: readonly number[]
  readonly rounds: Uint32Array
}

/** Made with the first digest of our own: where Node has one, nobody waits for them. */
let made: Constants | undefined

function constants(): Constants {
  if (made !== undefined) return made
  const primes: number[] = []
  for (let number = 2; primes.length < 64; number++) if (primes.every((prime) => number % prime !== 0)) primes.push(number)
  return (made = { primes, rounds: Uint32Array.from(primes, (prime) => (Math.cbrt(prime) % 1) * 2 ** 32) })
}

const turn = (word: number, by: number): number => (word >>> by) | (word << (32 - by))

/** For runtimes that have none. */
export class OwnSha256 implements Digest {
  /** As the standard has them, in the other order: d, c, b, a and h, g, f, e. What a round makes of a and of e is appended. */
  private readonly left = new Uint32Array(68)
  private readonly right = new Uint32Array(68)
  private readonly words = new Uint32Array(64)
  private readonly rounds: Uint32Array
  private length = 0

  constructor() {
    const { primes, rounds } = constants()
    this.rounds = rounds
    for (const [at, prime] of primes.slice(0, 8).entries())
      (at < 4 ? this.left : this.right)[3 - (at % 4)] = (Math.sqrt(prime) % 1) * 2 ** 32
  }

  update(text: string): this {
    for (const byte of new TextEncoder().encode(text)) this.take(byte)
    return this
  }

  digest(): string {
    const bits = this.length * 8
    for (this.take(0x80); this.length % 64 !== 56;) this.take(0)
    for (let byte = 7; byte >= 0; byte--) this.take(Math.floor(bits / 256 ** byte) % 256)
    const state = [this.left, this.right].flatMap((words) => Array.from(words.subarray(0, 4)).reverse())
    return state.map((word) => word.toString(16).padStart(8, '0')).join('')
  }

  private take(byte: number): void {
    const at = (this.length % 64) >> 2
    this.words[at] = (this.words[at]! << 8) | byte
    if (++this.length % 64 === 0) this.compress()
  }

  private compress(): void {
    const { words, left, right, rounds } = this
    for (let at = 16; at < 64; at++) {
      const [x, y] = [words[at - 15]!, words[at - 2]!]
      words[at] = words[at - 16]! + words[at - 7]! + (turn(x, 7) ^ turn(x, 18) ^ (x >>> 3)) + (turn(y, 17) ^ turn(y, 19) ^ (y >>> 10))
    }
    for (let at = 0; at < 64; at++) {
      const [c, b, a] = [left[at + 1]!, left[at + 2]!, left[at + 3]!]
      const [g, f, e] = [right[at + 1]!, right[at + 2]!, right[at + 3]!]
      const added = right[at]! + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + rounds[at]! + words[at]!
      right[at + 4] = left[at]! + added
      left[at + 4] = added + (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))
    }
    for (const row of [left, right]) for (let at = 0; at < 4; at++) row[at] = row[at]! + row[at + 64]!
  }
}
