const MAX_CAUSES = 5

/** The message of what was thrown, an error or not, with its causes and, when nothing else says where, the place. */
export function explain(thrown: unknown): string {
  const seen: unknown[] = []
  const parts: string[] = []
  for (let at = thrown; at !== undefined && !seen.includes(at) && seen.length < MAX_CAUSES; at = causeOf(at)) {
    seen.push(at)
    // Many a message quotes its cause already.
    if (at instanceof Error && parts.some((part) => part.includes(at.message))) continue
    parts.push(seen.length === 1 ? oneLevel(at) : `caused by: ${oneLevel(at)}`)
  }
  return parts.join('\n')
}

/** Everything that was thrown together with it: itself, its causes and the members of an aggregate. */
export function withCauses(thrown: unknown, found: Set<unknown> = new Set()): Set<unknown> {
  if (thrown === undefined || found.has(thrown)) return found
  found.add(thrown)
  for (const member of membersOf(thrown)) withCauses(member, found)
  return withCauses(causeOf(thrown), found)
}

function oneLevel(thrown: unknown): string {
  if (!(thrown instanceof Error)) return `${String(thrown)} was thrown, which is no Error`
  const members = membersOf(thrown).map((member) => `\n- ${explain(member).replaceAll('\n', '\n  ')}`)
  return `${thrown.message || thrown.name}${placeOf(thrown)}${members.join('')}`
}

/** Programming errors say what, not where; errors with a code of their own say both. */
function placeOf(error: Error): string {
  if ('code' in error || !/^(?:Type|Reference|Syntax|Range)?Error$/.test(error.name)) return ''
  const [first = '', ...rest] = error.stack?.split('\n') ?? []
  // The stack of a syntax error starts with the place.
  if (/^(?:file:\/\/|\/).*:\d+$/.test(first)) return `\n(${first})`
  const frame = rest.find((line) => /^\s+at /.test(line) && !line.includes('node:internal/'))
  return frame === undefined ? '' : `\n(${frame.trim()})`
}

function causeOf(thrown: unknown): unknown {
  return thrown instanceof Error ? thrown.cause : undefined
}

function membersOf(thrown: unknown): readonly unknown[] {
  return thrown instanceof AggregateError ? thrown.errors : []
}
