import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { analysisOf } from '../../src/report/figures/analysis.ts'
import { entryOf, indexPage } from '../../src/report/page/index-page.ts'
import { visible } from '../../src/report/page/html.ts'
import { sessionPage } from '../../src/report/page/session-page.ts'
import { sessionOfLog } from '../../src/report/read/from-log.ts'
import { hostile } from './hostile-text.ts'
import { Recorder } from './recorder.ts'
import { readStrictly } from './strict-html.ts'

/** A session in which every text that comes from outside is this one. */
function pages(text: string, calls: number): { readonly page: string; readonly index: string } {
  const log = new Recorder(text, Date.UTC(2026, 0, 1), undefined)
  log.events.push({ seq: 1, time: Date.UTC(2026, 0, 1), type: 'request/header', data: { provider: text, model: text } })
  log.ask(text)
  for (let index = 0; index < calls; index++)
    log.answer({
      text,
      input: 10,
      ...(index === 1 && { failed: text }),
      calls: [
        { name: text, raw: text, result: text, ...(index % 2 === 0 && { code: text }) },
        { name: `${text}${index}`, raw: JSON.stringify({ [text]: text }), result: `${text}\n${text}`, isError: true },
      ],
    })
  log.answer({ calls: [1, 2, 3].map(() => ({ name: text, raw: text, result: text, code: 'TOOL_TIMEOUT' })) })
  log.end({ kind: text, error: { code: text, message: text } })
  const contexts = log.events.filter(({ type, data }) => type === 'user/message' && JSON.stringify(data).includes('reminder'))
  for (const { data } of contexts) Object.assign(data as object, { content: [{ type: 'text', text }] })
  const analysis = analysisOf(text, sessionOfLog(log.events, true, [text]), { include: ['*'], exclude: [`${text}!`.slice(0, 200)] }, {})
  const options = { exclude: [text] }
  const page = sessionPage(analysis, options, { file: text, index: 'index.html' })
  return { page, index: indexPage([entryOf(analysis, 'a.html')], [{ file: text, why: text }], options) }
}

/** Short enough to stand whole wherever a page says it. */
const SHORT: [string][] = [['\u061c<b>'], ['\u202e"'], ['\u0007</script>']]

describe('text of a log', () => {
  it('never becomes an element, an attribute, a link, or the end of a script, and is shown as it is', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const plain = pages('plain', 4)
        const { page, index } = pages(text, 4)
        const [read, readIndex] = [readStrictly(page), readStrictly(index)]
        for (const link of read.links) expect(link).toMatch(/^(?:#c\d+|index\.html)$/)
        for (const link of readIndex.links) expect(link).toBe('a.html')
        // The same page but for the words.
        const bones = (tags: readonly string[]): string[] => tags.filter((tag) => !/^\/?(?:details|summary|pre|b|span|ul|li|p)$/.test(tag))
        expect(bones(readStrictly(index).tags)).toEqual(bones(readStrictly(plain.index).tags))
        expect(new Set(bones(read.tags))).toEqual(new Set(bones(readStrictly(plain.page).tags)))
        expect(read.text).toContain(visible(text.trim().split('\n')[0] ?? ''))
      }),
      { numRuns: 150, examples: SHORT },
    )
  })

  it('is data in a page that is drawn in parts, too', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const { page } = pages(text, 760)
        const { data, links } = readStrictly(page)
        for (const link of links) expect(link).toMatch(/^(?:#c\d+|index\.html)$/)
        const { texts, calls } = data as { texts: string[]; calls: unknown[][] }
        expect(calls).toHaveLength(1523)
        expect(texts).toContain(visible(text))
      }),
      { numRuns: 8, examples: SHORT },
    )
  })
})

it('the policy names the style and the script by their hashes, and allows nothing else', () => {
  const { page } = pages('x', 1)
  const [, policy] = /<meta http-equiv="Content-Security-Policy" content="([^"]*)" \/>/.exec(page) ?? []
  const hash = "'sha256-[A-Za-z0-9+/]{43}='"
  expect(policy).toMatch(
    new RegExp(`^default-src 'none'; base-uri 'none'; form-action 'none'; style-src ${hash}; script-src ${hash}$`.replaceAll('+/', '+\\/')),
  )
  expect(page.indexOf('Content-Security-Policy')).toBeLessThan(page.indexOf('<title>'))
  expect(page).not.toMatch(/unsafe-inline|unsafe-eval| style="| on[a-z]+="/)
})
