import { describe, expect, it } from 'vitest'
import { inWorker, markdownOf } from '../src/http/markdown.ts'
import { plainText } from '../src/http/plain-text.ts'
import { isConvertible, MAX_HTML_CHARS } from '../src/http/size.ts'

const never = new AbortController().signal
const convert = async (html: string): Promise<string> => (await markdownOf(html, never)).text

describe('HTML becomes Markdown', () => {
  it('with headings, lists, links and code', async () => {
    const html = `<!doctype html><html><head><title>T</title><style>p{}</style></head><body><h1>Head</h1><p>a <b>b</b> <a href="/c">c</a></p><ul><li>d<li>e</ul><pre><code>f
  g</code></pre><script>alert(1)</script></body></html>`
    expect(await convert(html)).toBe('T\n\n# Head\n\na **b** [c](/c)\n\n-   d\n-   e\n\n```\nf\n  g\n```')
  })

  it('without what nobody reads: scripts, styles, drawings, forms, embedded images', async () => {
    const html =
      '<p>a<script>x</script><style>x</style><noscript>x</noscript><svg><text>x</text></svg><iframe>x</iframe><img src="DATA:image/png;base64,xx" alt="x"><img src="/i.png" alt="i">'
    expect(await convert(html)).toBe('a![i](/i.png)')
  })
})

describe('what is too much for the converter becomes text', () => {
  it.each([
    ['20,000 nested tags', `${'<div>'.repeat(20_000)}deep &amp; down${'</div>'.repeat(20_000)}`, 'deep & down'],
    ['20,000 nested tags that nothing closes', `${'<b>'.repeat(20_000)}deep`, 'deep'],
    ['nesting behind end tags of others', `${'<b></i>'.repeat(20_000)}deep`, 'deep'],
    ['200,000 tags', '<p>a'.repeat(200_000), `a\n`.repeat(200_000).trim()],
    ['20,000 cells in a drawing, where nothing closes them', `<p>start</p><svg>${'<td>'.repeat(20_000)}`, 'start'],
  ])('%s', async (_what, html, text) => {
    expect(await convert(html)).toBe(text)
  })

  it('a document that overflows the stack of the converter all the same', async () => {
    expect(await inWorker({ html: `${'<div>'.repeat(3_000)}deep`, convert: true }, never)).toBe('deep')
  })

  it('is cut at a million characters before that', async () => {
    const found = await markdownOf(`<p>${'a'.repeat(2 * MAX_HTML_CHARS)}`, never)
    expect([found.text.length, found.truncated]).toEqual([MAX_HTML_CHARS - 3, true])
  })

  it.each([
    ['400 levels', `${'<div>'.repeat(400)}`, true],
    ['401 levels', `${'<div>'.repeat(401)}`, false],
    ['elements side by side', '<div></div>'.repeat(10_000), true],
    ['what HTML closes by itself', '<p>a<li>b<td>c<br>'.repeat(10_000), true],
    ['100,001 tags', '<br>'.repeat(100_001), false],
    ['text that is full of signs', '< <3 <- <<'.repeat(50_000), true],
  ])('%s', (_what, html, convertible) => {
    expect(isConvertible(html)).toBe(convertible)
  })
})

describe('plain text', () => {
  it.each([
    ['a line for each block, and none for what stands in a line', '<h1>A</h1>\n<p>b <i>c</i>d<br>e</p>', 'A\nb cd\ne'],
    [
      'entities',
      '&lt;p&gt; &#65;&#x42; &amp;amp; &nbsp;&eacute; &#xD800; &#9999999; &quot;&apos;',
      `<p> AB &amp; &eacute; \uFFFD \uFFFD "'`,
    ],
    [
      'no comments, scripts and styles',
      'a<!-- <b>x</b> -->b<script>if (a<b) x()</script>c<STYLE>x</style >d<!---->e<!doctype x>f',
      'ab\nc\nde\nf',
    ],
    ['nothing of what is never closed', 'a<script>b<p>c', 'a'],
    ['nor of a tag or comment that does not end', 'a<p class="x', 'a'],
    ['signs that are no tag', 'a < b <3 c<', 'a < b <3 c<'],
  ])('has %s', (_what, html, text) => {
    expect(plainText(html)).toBe(text)
  })

  it('takes long input of one kind in its stride', () => {
    for (const part of ['<', '<script>', '<!--', '&', '&amp;', ' ', '\n', '</', '<p '])
      expect(plainText(part.repeat(1_000_000 / part.length))).toBeTypeOf('string')
  })
})
