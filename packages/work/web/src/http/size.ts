/** How much of a document is converted. */
export const MAX_HTML_CHARS = 1_000_000

const MAX_TAGS = 100_000
const MAX_DEPTH = 400

/** What HTML closes by itself, so that an open one says nothing about the depth; but not in a drawing or a formula. */
const CLOSED_BY_ITSELF = new Set(
  'p li dt dd td th tr tbody thead tfoot option optgroup colgroup col area base br embed hr img input link meta param source track wbr html head body'.split(
    ' ',
  ),
)

/** Whether a converter that recurses can take a document: neither too many tags nor too deep. Judged by the tags alone, high rather than low. */
export function isConvertible(html: string): boolean {
  const open = new Map<string, number>()
  let depth = 0
  let tags = 0
  for (const [, slash, tag = ''] of html.matchAll(/<(\/?)([a-z][^\s/>]{0,40})/gi)) {
    if (++tags > MAX_TAGS) return false
    const name = tag.toLowerCase()
    const isDrawing = (open.get('svg') ?? 0) + (open.get('math') ?? 0) > 0
    if (CLOSED_BY_ITSELF.has(name) && !isDrawing) continue
    const count = open.get(name) ?? 0
    if (slash === '' && ++depth > MAX_DEPTH) return false
    if (slash === '') open.set(name, count + 1)
    else if (count > 0) {
      depth--
      open.set(name, count - 1)
    }
  }
  return true
}
