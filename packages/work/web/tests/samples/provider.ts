import type { Context } from '@deepseek-ai/cordis'
import type { FetchProvider } from '@loopguard/web'

export const name = 'archive-fetch'
export const inject = ['web']

/** Fetches from an archive. It forwards the signal and has no clock of its own. */
const archive: FetchProvider = {
  id: 'archive',
  available: () => true,
  async fetch({ url }, signal) {
    const response = await fetch(`http://127.0.0.1:8000/archive?of=${encodeURIComponent(url)}`, { ...(signal && { signal }) })
    return { url, status: response.status, contentType: 'text/plain', text: await response.text() }
  },
}

export function apply(ctx: Context): void {
  ctx.web.registerFetch(archive)
}
