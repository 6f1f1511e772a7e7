import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { EventEmitter } from 'node:events'
import { describe, expect, it, vi } from 'vitest'
import { outletOf } from '../../src/show/outlet.ts'
import { MARK } from '../../src/report/page/document.ts'
import { writePage } from '../../src/report/write/page-file.ts'
import { Progress } from '../../src/report/write/progress.ts'
import { sourcesOf } from '../../src/report/write/sources.ts'
import { folder } from '../cli.ts'

const PAGE = `<!doctype html>${MARK}new`

describe('a page', () => {
  it('takes the place of an earlier one as a whole, and leaves nothing beside it', () => {
    const place = folder({ 'a.html': `<!doctype html>${MARK}old` })
    writePage(join(place, 'a.html'), PAGE)
    expect([readFileSync(join(place, 'a.html'), 'utf8'), readdirSync(place)]).toEqual([PAGE, ['a.html']])
  })

  it.each([
    ['another page', '<!doctype html><meta name="generator" content="another">'],
    ['nothing', ''],
    ['a page that names this mark further down only', `${'x'.repeat(5000)}${MARK}`],
  ])('leaves a file as it is that holds %s', (_what, content) => {
    const place = folder({ 'a.html': content })
    expect(() => writePage(join(place, 'a.html'), PAGE)).toThrow('a.html is there already and is no report; it is left as it is')
    expect([readFileSync(join(place, 'a.html'), 'utf8'), readdirSync(place)]).toEqual([content, ['a.html']])
  })

  it('does not follow a link, whatever that leads to', () => {
    const place = folder({ 'there.html': PAGE })
    symlinkSync('there.html', join(place, 'a.html'))
    symlinkSync('nowhere', join(place, 'b.html'))
    for (const name of ['a.html', 'b.html']) expect(() => writePage(join(place, name), `${PAGE}er`)).toThrow('is no report')
    expect(readFileSync(join(place, 'there.html'), 'utf8')).toBe(PAGE)
    expect(readdirSync(place).toSorted()).toEqual(['a.html', 'b.html', 'there.html'])
  })

  it('says why it cannot be written, and leaves nothing', () => {
    const place = folder({ file: '' })
    expect(() => writePage(join(place, 'file/a.html'), PAGE)).toThrow(/a\.html cannot be written: (?:ENOTDIR|EEXIST)/)
    expect(() => writePage(join(place, `${'x'.repeat(300)}.html`), PAGE)).toThrow('cannot be written: ENAMETOOLONG')
    expect(readdirSync(place)).toEqual(['file'])
  })
})

describe('the logs of a folder', () => {
  it('are those in it and below, in order, without what is hidden, installed, linked or of another kind', () => {
    const place = folder({
      'b.jsonl': '',
      'a.JSON': '',
      'deep/er/c.ndjson': '',
      'deep/x.html': '',
      '.git/d.json': '',
      '.e.jsonl': '',
      'node_modules/f.json': '',
    })
    symlinkSync(place, join(place, 'loop'))
    symlinkSync('b.jsonl', join(place, 'link.jsonl'))
    expect(sourcesOf([place]).map(({ file, name }) => [file.slice(place.length + 1), name])).toEqual([
      ['a.JSON', 'a'],
      ['b.jsonl', 'b'],
      ['deep/er/c.ndjson', 'deep/er/c'],
    ])
  })
})

describe('progress', () => {
  function told(total: number, isTTY: boolean): string {
    let text = ''
    const stream = Object.assign(new EventEmitter(), { isTTY, write: (words: string) => ((text += words), true) })
    const now = vi.spyOn(Date, 'now').mockReturnValue(1000)
    const progress = new Progress(total, outletOf(stream as never))
    for (let index = 0; index < total; index++) {
      if (index === 1) now.mockReturnValue(1099)
      if (index === 2) now.mockReturnValue(1100)
      progress.next(index === 0 ? 'a\u001b[31m\nb' : `session ${index} ${'x'.repeat(100)}`)
    }
    progress.end()
    now.mockRestore()
    return text
  }

  it('on a terminal is one line, ten times a second at most, that goes away', () => {
    expect(told(1200, true)).toBe(`\r\u001b[K1 of 1,200: a\\x1b[31m b\r\u001b[K3 of 1,200: session 2 ${'x'.repeat(30)}…\r\u001b[K`)
  })

  it('elsewhere is one line before a long report, and none before a short one', () => {
    expect([told(100, false), told(99, false)]).toEqual(['reading 100 sessions\n', ''])
  })
})

it('a page that was written a moment ago by another is not overwritten either', () => {
  const place = folder({})
  const file = join(place, 'a.html')
  writePage(file, PAGE)
  writeFileSync(file, 'mine')
  expect(() => writePage(file, PAGE)).toThrow('is no report')
})
