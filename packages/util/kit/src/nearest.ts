/** The known word that an unknown one was meant for, if it is a few letters away: three, or a quarter of them. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const [first] = known.map((each) => ({ each, edits: edits(word.toLowerCase(), each.toLowerCase()) })).sort((a, b) => a.edits - b.edits)
  return first !== undefined && first.edits <= Math.max(3, first.each.length / 4) ? first.each : undefined
}

/** How to go on after an unknown key: the nearest known one, or all of them. */
export function keyHint(key: string, keys: readonly string[]): string {
  if (keys.length === 0) return ', it takes no configuration'
  const meant = nearest(key, keys)
  return meant === undefined ? `, expected ${keys.map((known) => `\`${known}\``).join(', ')}` : `, did you mean \`${meant}\`?`
}

/**
 * Optimal string alignment distance, of the first 40 characters of `a`: how many characters must be inserted, deleted, exchanged, or
 * swapped with their neighbour.
 */
function edits(a: string, b: string): number {
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= Math.min(a.length, 40); i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const exchanged = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1)
      let least = Math.min((next[j - 1] as number) + 1, (row[j] as number) + 1, exchanged)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) least = Math.min(least, (before[j - 2] as number) + 1)
      next.push(least)
    }
    before = row
    row = next
  }
  return row[b.length] as number
}
