import { describe, expect, it } from 'vitest'
import { markdownOf } from '../src/http/markdown.ts'
import { plainText } from '../src/http/plain-text.ts'

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
