import type { Agent } from 'undici'
import type { Fetch } from './guarded-fetch.ts'

/** What HTTP is spoken with: connections are kept for the next request, and no clock of the platform runs. */
export class HttpClient {
  private readonly connectMs: number
  private opened: Promise<{ readonly agent: Agent; readonly fetch: Fetch }> | undefined
  private closed = false

  /** @param connectMs - when the attempt to connect for a request that was given up ends. */
  constructor(connectMs: number) {
    this.connectMs = connectMs
  }

  /** Loads the client, with the first request. */
  async open(): Promise<Fetch> {
    return (await (this.opened ??= this.load())).fetch
  }

  /** Shuts all connections. */
  async close(): Promise<void> {
    this.closed = true
    const opened = await this.opened
    await opened?.agent.destroy()
  }

  private async load(): Promise<{ readonly agent: Agent; readonly fetch: Fetch }> {
    const undici = await import('undici')
    // Silence is for the watchdog to judge; the platform would give up after 300 s.
    const agent = new undici.Agent({ headersTimeout: 0, bodyTimeout: 0, connect: { timeout: this.connectMs } })
    if (this.closed) await agent.destroy()
    const fetch = (url: string, init: object) => undici.fetch(url, { ...init, dispatcher: agent })
    return { agent, fetch: fetch as unknown as Fetch }
  }
}
