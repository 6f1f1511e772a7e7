import type { ToolDefinition } from '@loopguard/tools'
import type { WebRuntime } from './service.ts'
import type { Config } from './tools-config.ts'
import type { FetchedPage } from './types.ts'

type Fetching = Pick<Config, 'fetchTimeoutMs' | 'fetchMaxOutputChars'>

/** `web_fetch { url }`. Its budget is `fetchTimeoutMs`, and nothing but the signal ends it. */
export function fetchTool(web: WebRuntime, { fetchTimeoutMs, fetchMaxOutputChars }: Fetching): ToolDefinition<{ readonly url: string }> {
  return {
    name: 'web_fetch',
    description:
      'Fetches the page at a URL and returns it as text; HTML becomes Markdown. Only http and https, and only text, JSON, XML and HTML. ' +
      'A redirect to another site is not followed: the error names it, and you may fetch it with another call.',
    parameters: {
      type: 'object',
      properties: { url: { type: 'string', description: 'The absolute URL, beginning with http:// or https://.' } },
      required: ['url'],
      additionalProperties: false,
    },
    timeoutMs: fetchTimeoutMs,
    isConcurrencySafe: () => true,
    execute: async ({ url }, { signal }) => pageText(await web.fetch({ url }, signal), fetchMaxOutputChars),
  }
}

/** What the model reads of a page. */
function pageText({ url, status, text, truncated }: FetchedPage, maxChars: number): string {
  const shown = beginning(text, maxChars)
  const mark = truncated === true || shown.length < text.length ? '\n\n[truncated]' : ''
  return `Fetched ${url} (HTTP ${status})\n\n${shown === '' ? '(no content)' : shown}${mark}`
}

/** At most `max` UTF-16 units; a pair of surrogates is not cut apart. */
function beginning(text: string, max: number): string {
  if (text.length <= max) return text
  return text.slice(0, /[\uD800-\uDBFF]/.test(text.charAt(max - 1)) ? max - 1 : max)
}
