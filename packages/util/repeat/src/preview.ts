import { canonical } from './canonical.ts'

/**
 * The arguments as canonical JSON on one line of well-formed text, cut after `limit` code points with the number of those left out.
 *
 * @throws as `canonical` does.
 */
export function previewOf(args: unknown, limit: number): string {
  let begin = ''
  let length = 0
  const take = (chunk: string): void => {
    const line = oneLine(chunk)
    length += pointsIn(line)
    if (begin.length <= limit * 2) begin += line
  }
  take(canonical(args, plain, take))
  return cutAt(limit, begin, length)
}

/** A text on one line of well-formed text, cut after `limit` code points with the number of those left out. */
export function lineOf(text: string, limit: number): string {
  const line = oneLine(text)
  return cutAt(limit, line, pointsIn(line))
}

function cutAt(limit: number, begin: string, length: number): string {
  return length <= limit ? begin : `${firstPoints(begin, limit)}… (+${length - limit} more chars)`
}

/** On one line, and nothing that changes how the line around it reads: control characters, line separators and lone surrogates are escaped. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/gu, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** The first `count` code points. */
export function firstPoints(text: string, count: number): string {
  return text.length <= count
    ? text
    : Array.from(text.slice(0, count * 2))
        .slice(0, count)
        .join('')
}

function pointsIn(text: string): number {
  let count = text.length
  for (let index = 0; index < text.length; index++) if ((text.charCodeAt(index) & 0xfc00) === 0xd800) count--
  return count
}

function plain(value: unknown): string {
  return typeof value === 'bigint' ? String(value) : (JSON.stringify(value) ?? String(value))
}
