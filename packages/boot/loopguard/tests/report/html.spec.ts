import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { html, json, trusted, visible } from '../../src/report/page/html.ts'
import { hostile } from './hostile-text.ts'
import { readStrictly } from './strict-html.ts'

describe('html', () => {
  it('escapes every value, in content and in attributes', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const { text: made } = html`<p title="${text}">${text}</p>`
        const read = readStrictly(made)
        expect([read.tags, read.text]).toEqual([['p', '/p'], visible(text)])
      }),
    )
  })

  it('takes what it made itself as it is, lists in their order, and nothing for nothing', () => {
    expect(html`<p>${html`<b>${'<'}</b>`}${[1, '&', html`<i></i>`]}${undefined}${false}</p>`.text).toBe('<p><b>&#60;</b>1&#38;<i></i></p>')
  })

  it('leaves out the line breaks of its own source, and none of a value', () => {
    expect(
      html`<p>
        one two three ${'a\n  b'}
        <b>four</b>
      </p>`.text,
    ).toBe('<p>one two three a\n  b<b>four</b></p>')
  })

  it('writes JSON that is the same value and holds nothing that a browser looks for in it', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), hostile, (value, text) => {
        const written = json([value, text]).text
        expect(JSON.parse(written)).toEqual(JSON.parse(JSON.stringify([value, text])))
        expect(written).not.toMatch(/[<>&\u2028\u2029]/)
      }),
    )
  })
})

it.each(['</script>', '</STYLE >', '<!-- x'])('nothing of ours may end its own element: %s', (text) => {
  expect(() => trusted(text)).toThrow('holds what would end its element')
})
