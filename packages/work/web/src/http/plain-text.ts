/** Elements whose content is not text for a reader. */
export const UNREAD: readonly string[] = ['script', 'style', 'noscript', 'template', 'svg', 'iframe', 'object', 'textarea', 'select']

const INLINE = new Set(
  'a abbr b bdi bdo cite code data dfn em font i img kbd mark q s samp small span strong sub sup time u var wbr'.split(' '),
)

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' }

/** The text of a document that is too much for a converter: without tags, a line for each block. Linear in its length. */
export function plainText(html: string): string {
  const lower = html.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase())
  const found: string[] = []
  for (let at = 0; at < html.length;) {
    const open = nextTag(lower, at)
    found.push(html.slice(at, open))
    if (open === html.length) break
    if (lower.startsWith('<!--', open)) {
      at = after(lower, '-->', open + 2)
      continue
    }
    at = after(lower, '>', open)
    const [, slash, name = ''] = /^<(\/?)([a-z][a-z0-9]*)/.exec(lower.slice(open, open + 20)) ?? []
    if (!INLINE.has(name)) found.push('\n')
    if (slash === '' && UNREAD.includes(name)) at = after(lower, '>', after(lower, `</${name}`, at) - 1)
  }
  const lines = found.join('').split('\n')
  return lines
    .map((line) => unescaped(line).split(/\s+/).join(' ').trim())
    .filter((line) => line !== '')
    .join('\n')
}

/** Where the next tag, comment or declaration begins; the end when there is none. */
function nextTag(html: string, from: number): number {
  for (let at = html.indexOf('<', from); at !== -1; at = html.indexOf('<', at + 1)) if (/[a-z/!?]/.test(html.charAt(at + 1))) return at
  return html.length
}

/** The place behind the next `mark`; the end when there is none, so that what is never closed is left out. */
function after(html: string, mark: string, from: number): number {
  const at = html.indexOf(mark, from)
  return at === -1 ? html.length : at + mark.length
}

function unescaped(text: string): string {
  return text.replaceAll(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w{2,8}));/gi, (entity, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? entity
    const point = decimal === undefined ? Number.parseInt(hex as string, 16) : Number(decimal)
    return point > 0x10_ff_ff || (point >= 0xd8_00 && point <= 0xdf_ff) ? '\uFFFD' : String.fromCodePoint(point)
  })
}
