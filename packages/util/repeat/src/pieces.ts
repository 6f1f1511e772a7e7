const SIZE = 65_536
/** No expression of the mask reaches across one of these, a line break first of all. */
const BORDERS = new Set(Array.from('\n\t\r"\'`;=!?#@&*|~()[]{}<>\\', (border) => border.charCodeAt(0)))

/** A text in pieces of at most 65,536 units, so that no expression ever sees more, cut where nothing that is masked is cut in two. */
export function* piecesOf(text: string): Generator<string> {
  let from = 0
  while (text.length - from > SIZE) {
    const to = borderBefore(text, from, from + SIZE)
    yield text.slice(from, to)
    from = to
  }
  yield text.slice(from)
}

/** Behind the last border; where there is none, at the end. */
function borderBefore(text: string, from: number, end: number): number {
  for (let at = end; at > from; at--) if (BORDERS.has(text.charCodeAt(at - 1))) return at
  return end
}
