/** How to go on after an unknown word: the nearest known one, or all of them. */
export function nearest(word: string, known: readonly string[]): string {
  const [first] = known.map((each) => ({ each, distance: distance(word.slice(0, 40), each) })).sort((a, b) => a.distance - b.distance)
  if (first !== undefined && first.distance <= 3) return `did you mean \`${first.each}\`?`
  return `expected ${known.map((each) => `\`${each}\``).join(', ')}`
}

/** Levenshtein's edit distance. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1]
    for (let j = 0; j < b.length; j++)
      next.push(Math.min((next[j] ?? 0) + 1, (row[j + 1] ?? 0) + 1, (row[j] ?? 0) + (a[i] === b[j] ? 0 : 1)))
    row = next
  }
  return row.at(-1) ?? 0
}
