import { describe, expect, it } from 'vitest'
import { escaped, styleOf } from '../src/show/terminal.ts'

describe('colours', () => {
  const TERMINAL = { isTTY: true }
  const PIPE = {}

  it.each([
    ['on a terminal', TERMINAL, {}, true],
    ['on a terminal that has none', TERMINAL, { TERM: 'dumb' }, false],
    ['in a pipe', PIPE, {}, false],
    ['in a pipe in CI', PIPE, { CI: 'true' }, false],
    ['refused by NO_COLOR', TERMINAL, { NO_COLOR: '1' }, false],
    ['with an empty NO_COLOR, which says nothing', TERMINAL, { NO_COLOR: '' }, true],
    ['forced by FORCE_COLOR', PIPE, { FORCE_COLOR: '1' }, true],
    ['with FORCE_COLOR=0', TERMINAL, { FORCE_COLOR: '0' }, false],
    ['both forced and refused', TERMINAL, { FORCE_COLOR: '1', NO_COLOR: '1' }, false],
  ])('%s', (_, stream, env, expected) => {
    const style = styleOf(stream, env)
    expect(style.paint.bold('x') !== 'x').toBe(expected)
    expect(style.isTerminal).toBe(stream === TERMINAL)
  })
})

describe('text for a terminal', () => {
  it('cannot move the cursor, change the title, ring or turn the direction of what follows', () => {
    expect(escaped('\u001b[2J\u001b]0;title\u0007 \u009b2J \r back \u007f \u202e right')).toBe(
      String.raw`\x1b[2J\x1b]0;title\x07 \x9b2J \x0d back \x7f \u202e right`,
    )
  })

  it('keeps its lines, its tabs and its emoji', () => {
    expect(escaped('a\r\nb\n\tc 👩‍👩‍👧')).toBe('a\nb\n\tc 👩‍👩‍👧')
  })
})
