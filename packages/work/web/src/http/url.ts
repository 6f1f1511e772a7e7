import { clip, HarnessError, show } from '@loopguard/kit'

const MAX_URL_CHARS = 2048
const SHOWN_CHARS = 300

/** A URL as a message shows it. */
export const shownUrl = (url: URL | string): string => clip(String(url), SHOWN_CHARS)

export const blocked = (message: string): HarnessError => new HarnessError(message, 'WEB_BLOCKED_URL')

/**
 * The URL that a text says, relative to `base` if there is one.
 * @throws HarnessError `WEB_BLOCKED_URL`: no URL, another scheme than http and https, too long, or with credentials.
 */
export function checkedUrl(text: string, base?: URL): URL {
  if (typeof text !== 'string') throw blocked(`the URL must be text, got ${show(text)}`)
  if (text.length > MAX_URL_CHARS) throw tooLong(text)
  if (!URL.canParse(text, base?.href)) throw blocked(`${show(text)} is not an absolute URL`)
  const url = new URL(text, base)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw blocked(`only http and https are fetched, not ${show(url.protocol)}`)
  // The credentials themselves are no part of the message: it goes into a log.
  if (url.username !== '' || url.password !== '') throw blocked(`the URL for ${show(url.host)} holds credentials: leave them out`)
  if (url.href.length > MAX_URL_CHARS) throw tooLong(url.href)
  return url
}

/** Scheme, host and port agree; http → https on the default ports is the same site too. */
export function isSameSite(from: URL, to: URL): boolean {
  if (from.origin === to.origin) return true
  return from.hostname === to.hostname && from.protocol === 'http:' && to.protocol === 'https:' && from.port === '' && to.port === ''
}

function tooLong({ length }: string): HarnessError {
  return blocked(`the URL is ${length} characters long, the most is ${MAX_URL_CHARS}`)
}
