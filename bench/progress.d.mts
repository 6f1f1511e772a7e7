/** Runs suites in turn and says so; `now` in milliseconds. */
export declare function inTurn(
  suites: readonly string[],
  run: (suite: string) => void,
  say: (line: string) => void,
  now?: () => number,
): void
