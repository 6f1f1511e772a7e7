import { defineTool } from '@loopguard/tools'

/** Forwards its signal to what does the work: a timeout or a cancel reaches the socket. */
export const fetchPage = defineTool<{ url: string }>({
  name: 'fetch_page',
  description: 'Fetches a page',
  parameters: { type: 'object', properties: { url: { type: 'string' } }, required: ['url'] },
  timeoutMs: 100,
  async execute({ url }, { signal }) {
    const response = await fetch(url, { signal })
    return await response.text()
  },
})
