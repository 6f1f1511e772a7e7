/** The same value with the keys of each object in another order. */
export function reordered(value: unknown, pick: (count: number) => number): unknown {
  if (Array.isArray(value)) return value.map((item) => reordered(item, pick))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
  const shuffled: [string, unknown][] = []
  while (entries.length > 0) {
    const [[name, inner] = ['', undefined]] = entries.splice(pick(entries.length), 1)
    shuffled.push([name, reordered(inner, pick)])
  }
  return Object.fromEntries(shuffled)
}
