// Which suite of how many runs, and how long it has taken.

/**
 * Runs suites in turn and says so.
 * @param {readonly string[]} suites
 * @param {(suite: string) => void} run
 * @param {(line: string) => void} say
 * @param {() => number} now - milliseconds.
 */
export function inTurn(suites, run, say, now = () => performance.now()) {
  const begun = now()
  const since = (at) => `${Math.round((now() - at) / 1000)} s`
  for (const [index, suite] of suites.entries()) {
    const startedAt = now()
    say(`bench: ${suite}, suite ${index + 1} of ${suites.length}${index > 0 ? `, ${since(begun)} so far` : ''} ...`)
    run(suite)
    say(`bench: ${suite} took ${since(startedAt)}`)
  }
  say(`bench: ${suites.length === 1 ? 'one suite' : `${suites.length} suites`} took ${since(begun)}`)
}
