/** What the pipeline itself says of a call whose caller has aborted; for a signal that a wrapper put in its place, the tool says it. */
export class CallAborted extends Error {
  override readonly name: string = 'AbortError'
  readonly code: string = 'ABORTED'

  constructor() {
    super('tool call aborted')
  }
}
