/** Whether a name is meant by a pattern. */
export type Matcher = (name: string) => boolean

/**
 * Compiles a pattern in which `*` stands for any run of characters, line breaks too, and every other character for itself. No expression,
 * no backtracking: a pattern of bounded length, as a configuration has it, takes time linear in the name.
 */
export function matcherOf(pattern: string): Matcher {
  const [begin = '', ...parts] = pattern.split('*')
  const end = parts.pop()
  if (end === undefined) return (name) => name === pattern
  return (name) => {
    const last = name.length - end.length
    if (last < begin.length || !name.startsWith(begin) || !name.endsWith(end)) return false
    // Each part where it first fits: if that leaves no room for those after it, nothing does.
    let from = begin.length
    for (const part of parts) {
      const at = name.indexOf(part, from)
      if (at === -1) return false
      from = at + part.length
    }
    return from <= last
  }
}

/** Whether calls of a tool count: it is included, or nothing is; and it is not excluded. The patterns are those of a checked configuration. */
export function trackerOf(include: readonly string[], exclude: readonly string[]): Matcher {
  const included = include.map(matcherOf)
  const excluded = exclude.map(matcherOf)
  return (name) => (included.length === 0 || included.some((matches) => matches(name))) && !excluded.some((matches) => matches(name))
}
