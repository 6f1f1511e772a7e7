import { clip, codeOf, HarnessError, messageOf, show } from '@loopguard/kit'
import type { SearchHit, SearchProvider, SearchRequest } from '../types.ts'
import { bounded } from './abort.ts'
import { readBody } from './body.ts'
import { exchange } from './exchange.ts'
import { checkedUrl } from './url.ts'

const SHOWN_CHARS = 200

/**
 * The search provider `http`: posts `{ query, numResults }`, reads `results[].{ title, url, text?, publishedDate? }`.
 * @param keyOf - the key; '' when none is needed, nothing when it is missing. Read for each request, and never shown.
 */
export function httpSearch(endpoint: string, keyOf: () => string | undefined): SearchProvider {
  const url = checkedUrl(endpoint)
  return {
    id: 'http',
    available: () => keyOf() !== undefined,
    search: (request, signal) => bounded(signal, (own) => search(url, keyOf(), request, own)),
  }
}

async function search(url: URL, key = '', { query, maxResults }: SearchRequest, signal: AbortSignal): Promise<readonly SearchHit[]> {
  const headers = { accept: 'application/json', 'content-type': 'application/json', ...(key !== '' && { 'x-api-key': key }) }
  try {
    const response = await exchange(url, { method: 'POST', headers, body: JSON.stringify({ query, numResults: maxResults }), signal })
    try {
      const { bytes, truncated } = await readBody(response)
      const text = bytes.toString()
      const { statusCode = 0 } = response
      if (statusCode < 200 || statusCode > 299) throw failed(`HTTP ${statusCode}${text === '' ? '' : `, ${clip(text, SHOWN_CHARS)}`}`)
      if (truncated) throw failed('an answer that is too long')
      return hitsOf(parsed(text))
    } finally {
      response.destroy()
    }
  } catch (thrown) {
    signal.throwIfAborted()
    if (codeOf(thrown)?.startsWith('WEB_') === true) throw thrown
    throw new HarnessError(`${url.origin} could not be asked: ${messageOf(thrown) || codeOf(thrown)}`, 'WEB_PROVIDER_ERROR', {
      cause: thrown,
    })
  }

  function failed(what: string): HarnessError {
    return new HarnessError(`${url.origin} answered the search with ${what}`, 'WEB_PROVIDER_ERROR')
  }

  function parsed(text: string): unknown {
    try {
      return JSON.parse(text)
    } catch {
      throw failed(`no JSON: ${clip(text, SHOWN_CHARS)}`)
    }
  }

  function hitsOf(answer: unknown): SearchHit[] {
    const { results } = Object(answer) as { readonly results?: unknown }
    if (!Array.isArray(results)) throw failed(`\`results\` that are ${show(results)}, not an array`)
    return (results as unknown[]).flatMap((result) => {
      const { title, url: found, text, publishedDate } = Object(result) as Record<string, unknown>
      if (typeof found !== 'string') return []
      return {
        title: typeof title === 'string' ? title : found,
        url: found,
        ...(typeof text === 'string' && { snippet: text }),
        ...(typeof publishedDate === 'string' && { date: publishedDate }),
      }
    })
  }
}
