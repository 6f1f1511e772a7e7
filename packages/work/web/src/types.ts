/** What a provider is asked to fetch. */
export interface FetchRequest {
  /** An absolute URL, as the model wrote it: checking it is the provider's work. */
  readonly url: string
}

/** A page, as the model reads it. An answer that is no success is a page too. */
export interface FetchedPage {
  /** Where it was found, after redirects. */
  readonly url: string
  readonly status: number
  /** As the server said it; empty when it said nothing. */
  readonly contentType: string
  readonly text: string
  /** Whether `text` is the beginning only. */
  readonly truncated?: boolean
}

export interface SearchRequest {
  readonly query: string
  readonly maxResults: number
}

export interface SearchHit {
  readonly title: string
  readonly url: string
  readonly snippet?: string
  readonly date?: string
}

interface Provider {
  /** Names it in the config of `@loopguard/web` and in errors. */
  readonly id: string
  /** Whether it can be used now, as far as it knows without asking anyone: its key is there, say. Only `true` counts. */
  available(): boolean
}

/**
 * Fetches pages. It stops when `signal` aborts and throws the signal's reason, or what the aborted operation threw. With a signal it
 * has no clock of its own: who gives the signal bounds the time. Failures have a `code` that begins with `WEB_`; any other is
 * reported as `WEB_PROVIDER_ERROR`.
 */
export interface FetchProvider extends Provider {
  fetch(request: FetchRequest, signal?: AbortSignal): Promise<FetchedPage>
}

/** Searches. The rules are those of {@link FetchProvider}. */
export interface SearchProvider extends Provider {
  search(request: SearchRequest, signal?: AbortSignal): Promise<readonly SearchHit[]>
}

/** A connection that is about to be made for a page. */
export interface WebConnect {
  readonly url: string
  /** What the name in the URL stands for; the connection goes to one of these, and to nothing else. */
  readonly addresses: readonly string[]
  /** Whether private addresses are allowed by config. */
  readonly allowPrivateNetwork: boolean
}

declare module '@deepseek-ai/cordis' {
  interface Events {
    /** `http-fetch` is about to connect, for each redirect anew. @mode emit; listeners are contained. A throw in `internal/dispatch` refuses the connection. */
    'web/connect'(event: WebConnect): void
  }
}
