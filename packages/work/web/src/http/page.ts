import type { IncomingMessage } from 'node:http'
import { HarnessError, show } from '@loopguard/kit'
import type { FetchedPage } from '../types.ts'
import { readBody } from './body.ts'
import { markdownOf } from './markdown.ts'
import { kindOf, kindOfBytes, mediaTypeOf, textOf } from './text.ts'

/**
 * What the model reads of an answer.
 * @throws HarnessError `WEB_UNSUPPORTED_TYPE`, `WEB_TOO_LARGE`
 */
export async function pageOf(url: URL, response: IncomingMessage, signal: AbortSignal): Promise<FetchedPage> {
  const { statusCode: status = 0, headers } = response
  const { 'content-type': contentType = '' } = headers
  const { mime, charset } = mediaTypeOf(contentType)
  const said = mime === '' ? undefined : kindOf(mime)
  const unsupported = (): HarnessError =>
    new HarnessError(
      `the answer (HTTP ${status}) is ${mime === '' ? 'of no type, and is not text' : show(mime)}; text, JSON, XML and HTML can be read`,
      'WEB_UNSUPPORTED_TYPE',
    )
  if (mime !== '' && said === undefined && headers['content-length'] !== '0' && hasBody(status)) throw unsupported()
  const { bytes, truncated } = await readBody(response)
  const kind = said ?? kindOfBytes(bytes)
  if (kind === undefined) throw unsupported()
  const text = textOf(bytes, kind, charset, !truncated)
  const shown = kind === 'html' ? await markdownOf(text, signal) : { text, truncated: false }
  return { url: url.href, status, contentType, text: shown.text, ...((truncated || shown.truncated) && { truncated: true }) }
}

function hasBody(status: number): boolean {
  return status !== 204 && status !== 304
}
