/** Whether a name is meant by a pattern. */
export type Matcher = (name: string) => boolean

/**
 * Compiles a pattern in which `*` stands for any run of characters, line breaks too, and every other character for itself. A match
 * takes time linear in the name; no expression, no backtracking.
 */
export function matcherOf(pattern: string): Matcher {
  const [head = '', ...rest] = pattern.split('*')
  const tail = rest.pop()
  if (tail === undefined) return (name) => name === pattern
  const parts = rest.filter((part) => part !== '').map(finderOf)
  return (name) => {
    const end = name.length - tail.length
    if (end < head.length || !name.startsWith(head) || !name.endsWith(tail)) return false
    // Each part where it first fits: if that leaves no room for those after it, nothing does.
    let from = head.length
    for (const find of parts) {
      from = find(name, from, end)
      if (from === -1) return false
    }
    return true
  }
}

/** Whether calls of a tool count: it is included, or nothing is; and it is not excluded. */
export function trackerOf(include: readonly string[], exclude: readonly string[]): Matcher {
  const included = include.map(matcherOf)
  const excluded = exclude.map(matcherOf)
  return (name) => (included.length === 0 || included.some((matches) => matches(name))) && !excluded.some((matches) => matches(name))
}

/** Where the part ends when it is first found in `name` between `from` and `end`, or -1. */
type Finder = (name: string, from: number, end: number) => number

/** Knuth, Morris and Pratt: `indexOf` of current engines is not linear for every input. */
function finderOf(part: string): Finder {
  const borders = bordersOf(part)
  return (name, from, end) => {
    let matched = 0
    for (let at = from; at < end; at++) {
      const unit = name.charCodeAt(at)
      while (matched > 0 && unit !== part.charCodeAt(matched)) matched = borders[matched - 1] as number
      if (unit === part.charCodeAt(matched)) matched++
      if (matched === part.length) return at + 1
    }
    return -1
  }
}

/** For each prefix, the length of the longest shorter one that also ends it. */
function bordersOf(part: string): readonly number[] {
  const borders = [0]
  let matched = 0
  for (let at = 1; at < part.length; at++) {
    while (matched > 0 && part[at] !== part[matched]) matched = borders[matched - 1] as number
    if (part[at] === part[matched]) matched++
    borders.push(matched)
  }
  return borders
}
