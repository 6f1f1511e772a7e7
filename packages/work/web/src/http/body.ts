import type { IncomingMessage } from 'node:http'
import { pipeline, type Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { HarnessError, show } from '@loopguard/kit'

/** Of decoded bytes. */
const MAX_BODY_BYTES = 5 * 1024 * 1024

/** What is asked for, and all that is understood. */
export const ACCEPT_ENCODING = 'gzip, deflate, br'

export interface Body {
  readonly bytes: Buffer
  /** Whether there was more than {@link MAX_BODY_BYTES}. */
  readonly truncated: boolean
}

/**
 * Reads the beginning of an answer, decoded, and lets go of the rest.
 * @throws HarnessError `WEB_TOO_LARGE` when the answer says beforehand that it is longer, `WEB_UNSUPPORTED_TYPE` for an unknown
 * encoding; and what the connection or the decoder throws.
 */
export async function readBody(response: IncomingMessage): Promise<Body> {
  const { 'content-length': declared, 'content-encoding': encoding = '' } = response.headers
  if (Number(declared) > MAX_BODY_BYTES) {
    throw new HarnessError(`the answer is ${declared} bytes long, the most is ${MAX_BODY_BYTES}`, 'WEB_TOO_LARGE')
  }
  const chunks: Buffer[] = []
  let room = MAX_BODY_BYTES
  for await (const chunk of decoded(response, encoding.trim().toLowerCase())) {
    const bytes = chunk as Buffer
    chunks.push(bytes.subarray(0, room))
    if (bytes.length > room) return { bytes: Buffer.concat(chunks), truncated: true }
    room -= bytes.length
  }
  return { bytes: Buffer.concat(chunks), truncated: false }
}

function decoded(response: IncomingMessage, encoding: string): Readable {
  if (encoding === '' || encoding === 'identity') return response
  const decoder =
    encoding === 'gzip' || encoding === 'x-gzip'
      ? createGunzip()
      : encoding === 'deflate'
        ? createInflate()
        : encoding === 'br'
          ? createBrotliDecompress()
          : undefined
  if (decoder === undefined) throw new HarnessError(`the answer is encoded as ${show(encoding)}`, 'WEB_UNSUPPORTED_TYPE')
  // The reader of the decoder is told of a fault; the callback keeps it from being thrown twice.
  return pipeline(response, decoder, () => {})
}
