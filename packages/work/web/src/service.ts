import { type Context, Service } from '@deepseek-ai/cordis'
import type z from '@deepseek-ai/schemastery'
import { codeOf, HarnessError, messageOf, show } from '@loopguard/kit'
import { hitsOf, pageOf } from './answers.ts'
import { Config } from './config.ts'
import { Providers } from './providers.ts'
import type { FetchedPage, FetchProvider, FetchRequest, SearchHit, SearchProvider, SearchRequest } from './types.ts'

declare module '@deepseek-ai/cordis' {
  interface Context {
    web: WebRuntime
  }
}

/** `ctx.web`: fetching and searching, by providers that plugins register. It has no clock: the caller's signal bounds the work. */
export class WebRuntime extends Service {
  static readonly Config: z<Config> = Config

  private readonly fetching: Providers<FetchProvider>
  private readonly searching: Providers<SearchProvider>

  constructor(ctx: Context, { fetchProvider, searchProvider }: Config = {}) {
    super(ctx, 'web')
    this.fetching = new Providers('fetch', fetchProvider)
    this.searching = new Providers('search', searchProvider)
  }

  /**
   * Adds a provider, until the disposer runs or the caller's fiber goes. A request that runs then goes on.
   * @throws HarnessError `WEB_BAD_PROVIDER`, `WEB_PROVIDER_EXISTS`
   */
  registerFetch(provider: FetchProvider): () => void {
    return this.ctx.effect(() => this.fetching.add(provider), 'ctx.web.registerFetch()') as () => void
  }

  /** As {@link registerFetch}. */
  registerSearch(provider: SearchProvider): () => void {
    return this.ctx.effect(() => this.searching.add(provider), 'ctx.web.registerSearch()') as () => void
  }

  /**
   * Fetches a page with the one provider that is available, or the one that the config names.
   * @throws the reason of `signal` once that has aborted; else HarnessError: `WEB_PROVIDER_UNAVAILABLE`, `WEB_PROVIDER_AMBIGUOUS`,
   * `WEB_PROVIDER_MISSING`, or a code of the provider that begins with `WEB_`.
   */
  async fetch(request: FetchRequest, signal?: AbortSignal): Promise<FetchedPage> {
    return ask(this.fetching.choose(), signal, async (provider) => pageOf(await provider.fetch(request, signal)))
  }

  /** Searches; as {@link fetch}. No more than `maxResults` hits come back. */
  async search(request: SearchRequest, signal?: AbortSignal): Promise<readonly SearchHit[]> {
    return ask(this.searching.choose(), signal, async (provider) =>
      hitsOf(await provider.search(request, signal)).slice(0, request.maxResults),
    )
  }
}

/** Three facts stay apart: the caller aborted, the provider refused or failed with a code of ours, the provider broke. */
async function ask<P extends { readonly id: string }, R>(
  provider: P,
  signal: AbortSignal | undefined,
  work: (provider: P) => Promise<R>,
): Promise<R> {
  signal?.throwIfAborted()
  try {
    return await work(provider)
  } catch (thrown) {
    signal?.throwIfAborted()
    if (codeOf(thrown)?.startsWith('WEB_') === true) throw thrown
    throw new HarnessError(`web: provider ${show(provider.id)} failed: ${messageOf(thrown)}`, 'WEB_PROVIDER_ERROR', { cause: thrown })
  }
}
