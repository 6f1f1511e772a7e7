const NOTHING = Buffer.alloc(0)

/** Hands the bytes of a UTF-8 stream on in pieces that split no character. What is no UTF-8 passes as it is. */
export class Characters {
  private held: Buffer = NOTHING

  /** The next piece: at most the last three bytes are held back for the chunk that completes them. */
  take(chunk: Buffer): Buffer {
    const bytes = this.held.length === 0 ? chunk : Buffer.concat([this.held, chunk])
    const whole = wholeLength(bytes, bytes.length)
    this.held = whole === bytes.length ? NOTHING : Buffer.from(bytes.subarray(whole))
    return bytes.subarray(0, whole)
  }

  /** What is left at the end of the stream. */
  end(): Buffer {
    const { held } = this
    this.held = NOTHING
    return held
  }
}

/** The greatest length up to `length` at which no character of `bytes` is split. */
export function wholeLength(bytes: Buffer, length: number): number {
  for (let at = length - 1; at >= 0 && at >= length - 4; at--) {
    const byte = bytes[at] as number
    if (isContinuation(byte)) continue
    return at + sizeOf(byte) > length ? at : length
  }
  return length
}

/** Where the first character begins at or after `start`: `start` itself, unless it stands in the middle of one. */
export function characterStart(bytes: Buffer, start: number): number {
  let at = start
  while (at < bytes.length && at < start + 3 && isContinuation(bytes[at] as number)) at++
  return at
}

function isContinuation(byte: number): boolean {
  return (byte & 0b1100_0000) === 0b1000_0000
}

function sizeOf(first: number): number {
  return first >= 0xf0 && first < 0xf8 ? 4 : first >= 0xe0 && first < 0xf0 ? 3 : first >= 0xc0 && first < 0xe0 ? 2 : 1
}
