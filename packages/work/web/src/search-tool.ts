import { clip } from '@loopguard/kit'
import type { ToolDefinition } from '@loopguard/tools'
import { allOrFirstFailure } from './all.ts'
import type { WebRuntime } from './service.ts'
import type { Config } from './tools-config.ts'
import type { SearchHit } from './types.ts'

type Searching = Pick<Config, 'searchTimeoutMs' | 'searchMaxResults' | 'searchMaxQueries'>

const MAX_TITLE_POINTS = 200
const MAX_SNIPPET_POINTS = 500

/** `web_search { queries }`. The queries run side by side; the first failure ends the others. */
export function searchTool(
  web: WebRuntime,
  { searchTimeoutMs, searchMaxResults, searchMaxQueries }: Searching,
): ToolDefinition<{ readonly queries: readonly string[] }> {
  return {
    name: 'web_search',
    description: `Searches the web and returns the ${searchMaxResults} best hits of all queries together. Give up to ${searchMaxQueries} queries that look for the same thing in different words.`,
    parameters: {
      type: 'object',
      properties: {
        queries: { type: 'array', items: { type: 'string', pattern: '\\S' }, minItems: 1, maxItems: searchMaxQueries },
      },
      required: ['queries'],
      additionalProperties: false,
    },
    timeoutMs: searchTimeoutMs,
    isConcurrencySafe: () => true,
    async execute({ queries }, { signal }) {
      const lists = await allOrFirstFailure(
        queries.map((query) => (each) => web.search({ query: query.trim(), maxResults: searchMaxResults }, each)),
        signal,
      )
      const hits = merged(lists).slice(0, searchMaxResults)
      return hits.length === 0 ? 'No results.' : hits.map(hitLine).join('\n')
    },
  }
}

/** The first hit of each list, then the second of each, and so on; a URL stands once, where it comes first. */
function merged(lists: readonly (readonly SearchHit[])[]): SearchHit[] {
  const byUrl = new Map<string, SearchHit>()
  for (let rank = 0; rank < Math.max(...lists.map(({ length }) => length)); rank++) {
    for (const list of lists) {
      const hit = list[rank]
      const url = hit === undefined ? undefined : normal(hit.url)
      if (hit !== undefined && url !== undefined && !byUrl.has(url)) byUrl.set(url, hit)
    }
  }
  return [...byUrl.values()]
}

function hitLine({ title, url, snippet = '', date = '' }: SearchHit): string {
  const name = clip(oneLine(title) || oneLine(url), MAX_TITLE_POINTS).replaceAll(/[[\]]/g, String.raw`\$&`)
  const text = clip(oneLine(snippet), MAX_SNIPPET_POINTS)
  return `- [${name}](${oneLine(url)})${text === '' ? '' : ` — ${text}`}${date === '' ? '' : ` (${oneLine(date)})`}`
}

function normal(url: string): string {
  return URL.canParse(url) ? new URL(url).href : url
}

function oneLine(text: string): string {
  return text.split(/\s+/).join(' ').trim()
}
