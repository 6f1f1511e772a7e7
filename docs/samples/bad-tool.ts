import { defineTool } from '@loopguard/tools'

/** Promises a budget with `timeoutMs` and keeps nothing of it: the socket is never told. */
export const fetchPage = defineTool<{ url: string }>({
  name: 'fetch_page',
  description: 'Fetches a page',
  parameters: { type: 'object', properties: { url: { type: 'string' } }, required: ['url'] },
  timeoutMs: 100,
  async execute({ url }) {
    const response = await fetch(url)
    return await response.text()
  },
})
