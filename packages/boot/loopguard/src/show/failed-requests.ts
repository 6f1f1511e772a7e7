import type { LogEvent, RequestFailure } from './log-events.ts'

/** Tells a failed attempt to ask a model and what became of it in one line, though the log has two events for that. */
export class FailedRequests {
  private readonly untold = new Map<string, RequestFailure>()

  /** What there is to say now that this agent has logged this event. */
  note(agent: string, event: LogEvent): string | undefined {
    const failure = this.untold.get(agent)
    this.untold.delete(agent)
    if (event.type === 'request/failed') this.untold.set(agent, event.data.failure)
    if (failure === undefined) return undefined
    const { code, status } = failure
    const what = status === undefined ? code : `${code} ${status}`
    if (event.type !== 'request/retry') return what
    const { delayMs, retry, maxRetries } = event.data
    return `${what} (trying again in ${waitOf(delayMs)}, ${retry} of ${maxRetries})`
  }
}

function waitOf(ms: number): string {
  return ms < 100 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`
}
