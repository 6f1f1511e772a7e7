/** The elements that a report is made of, each with the attributes that it may have. */
const GLOBAL = ['id', 'class', 'title', 'aria-hidden', 'aria-label', 'aria-sort', 'role', 'tabindex', 'data-is', 'data-value', 'data-part']
const BOX = ['x', 'y', 'width', 'height']
const ELEMENTS: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(
    'html head title style body main header section footer h1 h2 p b i strong span code pre ol ul li dl dt dd div details summary table thead tbody tr defs noscript'
      .split(' ')
      .map((name) => [name, []]),
  ),
  html: ['lang'],
  meta: ['charset', 'http-equiv', 'content', 'name'],
  script: ['type'],
  a: ['href'],
  th: [],
  td: ['colspan'],
  label: ['for'],
  input: ['type', 'min', 'max', 'value'],
  output: ['for'],
  button: ['type'],
  svg: BOX,
  rect: BOX,
  line: ['x1', 'y1', 'x2', 'y2'],
  text: ['x', 'y'],
  path: ['d'],
  pattern: ['width', 'height', 'patternUnits', 'patternTransform'],
}

interface Read {
  /** The names of the tags, in order. */
  readonly tags: readonly string[]
  readonly links: readonly string[]
  /** What stands between the tags, as a reader sees it. */
  readonly text: string
  readonly data: unknown
}

/**
 * Reads a page that is made of nothing but what a report is made of; the least thing else is an error. Stricter than a browser: every `<`
 * must begin one of those tags, every `&` a number, and every attribute must be known and in double quotes.
 */
export function readStrictly(page: string): Read {
  const tags: string[] = []
  const links: string[] = []
  let [text, data, at]: [string, unknown, number] = ['', undefined, 0]
  if (page.startsWith('<!doctype html>')) at = '<!doctype html>'.length
  while (at < page.length) {
    const next = page.indexOf('<', at)
    const words = page.slice(at, next === -1 ? undefined : next)
    if (/>|&(?!#\d+;)/.test(words)) throw new Error(`text that is markup: ${words.slice(0, 200)}`)
    text += words.replace(/&#(\d+);/g, (_entity, code: string) => String.fromCharCode(Number(code)))
    if (next === -1) break
    const [tag, name, attributes, end] = tagAt(page, next)
    tags.push(name)
    for (const [, key, value] of attributes.matchAll(/ ([a-zA-Z0-9-]+)="([^"]*)"/g)) {
      if (!GLOBAL.includes(key as string) && ELEMENTS[name.replace('/', '')]?.includes(key as string) !== true)
        throw new Error(`<${name}> has the attribute ${key}`)
      if (key === 'href') links.push(value as string)
    }
    at = next + tag.length
    if (name === 'script' || name === 'style') {
      const close = page.indexOf(`</${name}`, at)
      if (end.includes('json')) data = JSON.parse(page.slice(at, close))
      at = close
    }
  }
  // Control characters, those that turn the direction of text, and halves of characters.
  const strange = /[\p{Bidi_Control}\p{Cs}]|(?!\n|\t)\p{Cc}/u.exec(page)
  if (strange !== null) throw new Error(`U+${strange[0].codePointAt(0)?.toString(16)} at ${strange.index}`)
  return { tags, links, text, data }
}

function tagAt(page: string, at: number): [tag: string, name: string, attributes: string, whole: string] {
  const found = /^<(\/?[a-z][a-z0-9]*)((?: [a-zA-Z0-9-]+="[^"<>]*")*) ?\/?>/.exec(page.slice(at, at + 100_000))
  const [tag, name, attributes] = found ?? []
  if (tag === undefined || name === undefined || attributes === undefined || !Object.hasOwn(ELEMENTS, name.replace('/', '')))
    throw new Error(`no tag of a report: ${page.slice(at, at + 200)}`)
  return [tag, name, attributes, tag]
}
