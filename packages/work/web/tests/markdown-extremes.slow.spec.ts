import { describe, expect, it } from 'vitest'
import { inWorker, markdownOf } from '../src/http/markdown.ts'
import { isConvertible, MAX_HTML_CHARS } from '../src/http/size.ts'

const never = new AbortController().signal
const convert = async (html: string): Promise<string> => (await markdownOf(html, never)).text

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
