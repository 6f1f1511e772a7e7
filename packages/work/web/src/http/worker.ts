import { parentPort, workerData } from 'node:worker_threads'
import TurndownService from 'turndown'
import { plainText, UNREAD } from './plain-text.ts'

/** What the worker is asked. */
export interface Conversion {
  readonly html: string
  /** Whether to convert; otherwise the tags are taken out, and that is all. */
  readonly convert: boolean
}

const { html, convert } = workerData as Conversion
parentPort?.postMessage(convert ? markdown() : plainText(html))

function markdown(): string {
  const service = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-', emDelimiter: '*' })
  service.remove((node) => UNREAD.includes(node.nodeName.toLowerCase()))
  // An image that is a part of the page is a long line of letters to a model.
  service.addRule('embedded image', {
    filter: (node) => node.nodeName === 'IMG' && /^data:/i.test(node.getAttribute('src') ?? ''),
    replacement: () => '',
  })
  try {
    return service.turndown(html)
  } catch {
    // It recurses: the stack was not deep enough for this document.
    return plainText(html)
  }
}
