import { HarnessError, show } from '@loopguard/kit'

export type Kind = 'html' | 'xml' | 'json' | 'text'

/** What the type of an answer means, as far as it is text. */
export function kindOf(mime: string): Kind | undefined {
  if (mime === 'text/html' || mime === 'application/xhtml+xml') return 'html'
  if (mime === 'application/xml' || mime === 'text/xml' || mime.endsWith('+xml')) return 'xml'
  if (mime === 'application/json' || mime === 'application/x-ndjson' || mime.endsWith('+json')) return 'json'
  return mime.startsWith('text/') ? 'text' : undefined
}

/** The kind of an answer that does not say it, by its first bytes. */
export function kindOfBytes(bytes: Buffer): Kind | undefined {
  const start = bytes.subarray(0, SEARCHED_BYTES)
  if (start.includes(0)) return undefined
  return /^\s*<(?:!doctype html|html)\b/i.test(start.toString('latin1')) ? 'html' : 'text'
}

/** Type and charset of a `content-type` header. */
export function mediaTypeOf(header: string): { readonly mime: string; readonly charset: string | undefined } {
  const [mime = ''] = header.split(';', 1)
  const [, charset] = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(header.slice(0, 500)) ?? []
  return { mime: mime.trim().toLowerCase(), charset }
}

/** As far as browsers look for a charset. */
const SEARCHED_BYTES = 1024

const BOMS: readonly (readonly [string, readonly number[]])[] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16be', [0xfe, 0xff]],
  ['utf-16le', [0xff, 0xfe]],
]

/**
 * The text that the bytes stand for. The charset is that of the byte order mark, else of the header, else of the document itself,
 * else UTF-8, or Windows-1252 for what is not valid as that. A charset that is not known does no harm to what is valid UTF-8.
 *
 * @param whole - `false` when the bytes end in the middle: a character that is cut apart is left out then.
 * @throws HarnessError `WEB_UNSUPPORTED_TYPE` for a charset that is not known.
 */
export function textOf(bytes: Buffer, kind: Kind, charset: string | undefined, whole: boolean): string {
  const mark = BOMS.find(([, bom]) => bom.every((byte, index) => bytes[index] === byte))?.[0]
  const label = mark ?? charset ?? declaredIn(bytes, kind)
  const decoder = label === undefined ? undefined : decoderFor(label)
  if (decoder !== undefined) return decoder.decode(bytes, { stream: !whole })
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: !whole })
  } catch {
    if (label !== undefined) throw new HarnessError(`the charset ${show(label)} is not known`, 'WEB_UNSUPPORTED_TYPE')
    return new TextDecoder(kind === 'json' ? 'utf-8' : 'windows-1252').decode(bytes)
  }
}

function declaredIn(bytes: Buffer, kind: Kind): string | undefined {
  const start = bytes.subarray(0, SEARCHED_BYTES).toString('latin1')
  if (kind === 'xml') return /^<\?xml\b[^>]*?\bencoding\s*=\s*["']([^"'>]*)/.exec(start)?.[1]
  const [, label] = kind === 'html' ? (/<meta\b[^>]*?\bcharset\s*=\s*["']?\s*([^\s"'/>;]+)/i.exec(start) ?? []) : []
  // A document that could be read so far is no UTF-16, even if it says so.
  return label !== undefined && /^utf-?16/i.test(label) ? 'utf-8' : label
}

function decoderFor(label: string): InstanceType<typeof TextDecoder> | undefined {
  try {
    return new TextDecoder(label)
  } catch {
    return undefined
  }
}
