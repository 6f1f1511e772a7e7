/** The known word that an unknown one was meant for, if it is a few letters away. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const [first] = known.map((each) => ({ each, edits: edits(word.toLowerCase(), each.toLowerCase()) })).sort((a, b) => a.edits - b.edits)
  return first !== undefined && first.edits <= 3 ? first.each : undefined
}

/** How to go on after an unknown key: the nearest known one, or all of them. */
export function keyHint(key: string, keys: readonly string[]): string {
  if (keys.length === 0) return ', it takes no configuration'
  const meant = nearest(key, keys)
  return meant === undefined ? `, expected ${keys.map((known) => `\`${known}\``).join(', ')}` : `, did you mean \`${meant}\`?`
}

/** Levenshtein's edit distance, of the first 40 characters. */
function edits(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 0; i < Math.min(a.length, 40); i++) {
    const next = [i + 1]
    for (let j = 0; j < b.length; j++) {
      next.push(Math.min((next[j] ?? 0) + 1, (row[j + 1] ?? 0) + 1, (row[j] ?? 0) + (a[i] === b[j] ? 0 : 1)))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
