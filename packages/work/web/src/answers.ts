import { show } from '@loopguard/kit'
import type { FetchedPage, SearchHit } from './types.ts'

/** What a provider answered, if it is a page. @throws TypeError that says what is wrong. */
export function pageOf(answer: FetchedPage): FetchedPage {
  const { url, status, contentType, text, truncated } = Object(answer) as Partial<FetchedPage>
  if (typeof url !== 'string') throw wrong('url', 'text', url)
  if (typeof status !== 'number') throw wrong('status', 'a number', status)
  if (typeof contentType !== 'string') throw wrong('contentType', 'text', contentType)
  if (typeof text !== 'string') throw wrong('text', 'text', text)
  return { url, status, contentType, text, ...(truncated === true && { truncated }) }
}

/** As {@link pageOf}, for a list of hits. */
export function hitsOf(answer: readonly SearchHit[]): SearchHit[] {
  if (!Array.isArray(answer)) throw new TypeError(`its answer must be an array of hits, got ${show(answer)}`)
  return (answer as readonly SearchHit[]).map((hit, index) => {
    const { title, url, snippet, date } = Object(hit) as Partial<SearchHit>
    if (typeof title !== 'string') throw wrong(`[${index}].title`, 'text', title)
    if (typeof url !== 'string') throw wrong(`[${index}].url`, 'text', url)
    return { title, url, ...(typeof snippet === 'string' && { snippet }), ...(typeof date === 'string' && { date }) }
  })
}

function wrong(field: string, wanted: string, got: unknown): TypeError {
  return new TypeError(`\`${field}\` of its answer must be ${wanted}, got ${show(got)}`)
}
