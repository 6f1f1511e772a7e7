/** Why a composition did not start: one row, or the file as a whole. */
export interface Fault {
  /** Where it stands, as `<file>:<line>:<column>`; missing for rows that come from no file. */
  readonly place?: string | undefined
  /** Id of the row, with those of the rows that include it; missing when the file itself is at fault. */
  readonly row?: string | undefined
  /** What the row names: a package or a file. */
  readonly package?: string | undefined
  /** For a person, several lines if need be. */
  readonly cause: string
  /** What was thrown, if something was. */
  readonly error?: unknown
}

/** A composition that did not start; `faults` has at least one. Code `LOAD_FAILED`. */
export class CompositionError extends Error {
  readonly code = 'LOAD_FAILED'
  readonly faults: readonly Fault[]

  constructor(file: string, faults: readonly Fault[]) {
    super(`${file} did not load\n${faults.map((fault) => indented(lineOf(fault))).join('\n')}`)
    this.name = 'CompositionError'
    this.faults = faults
  }
}

/** `<place>: <row> (<package>): <cause>`, as far as each is known. */
export function lineOf({ place, row, package: name, cause }: Fault): string {
  const subject = row === undefined || name === undefined ? row : `${row} (${name})`
  return [place, subject, cause].filter((part) => part !== undefined).join(': ')
}

function indented(text: string): string {
  return text
    .split('\n')
    .map((line, index) => (index === 0 ? '  ' : '    ') + line)
    .join('\n')
}
