import { HarnessError, messageOf, show } from '@loopguard/kit'

interface Provider {
  readonly id: string
  available(): boolean
}

/** The providers of one kind of work, and which of them does it. */
export class Providers<P extends Provider> {
  private readonly byId = new Map<string, P>()
  private readonly work: 'fetch' | 'search'
  private readonly chosen: string | undefined

  /** `chosen` is the id that the config names. */
  constructor(work: 'fetch' | 'search', chosen: string | undefined) {
    this.work = work
    this.chosen = chosen
  }

  /** @throws HarnessError `WEB_BAD_PROVIDER`, `WEB_PROVIDER_EXISTS` */
  add(provider: P): () => void {
    const { id } = this.checked(provider)
    if (this.byId.has(id)) throw new HarnessError(`web: a ${this.work} provider ${show(id)} is registered already`, 'WEB_PROVIDER_EXISTS')
    this.byId.set(id, provider)
    return () => this.byId.delete(id)
  }

  /** @throws HarnessError `WEB_PROVIDER_MISSING`, `WEB_PROVIDER_UNAVAILABLE`, `WEB_PROVIDER_AMBIGUOUS` */
  choose(): P {
    const { work, chosen } = this
    if (chosen !== undefined) {
      const provider = this.byId.get(chosen)
      if (provider === undefined) {
        throw new HarnessError(`web: no ${work} provider ${show(chosen)} is registered${this.listed()}`, 'WEB_PROVIDER_MISSING')
      }
      if (isUsable(provider)) return provider
      throw new HarnessError(`web: the ${work} provider ${show(chosen)} is not available`, 'WEB_PROVIDER_UNAVAILABLE')
    }
    const [first, ...others] = [...this.byId.values()].filter(isUsable)
    if (first === undefined) throw new HarnessError(`web: no ${work} provider is available${this.listed()}`, 'WEB_PROVIDER_UNAVAILABLE')
    if (others.length === 0) return first
    const ids = [first, ...others].map(({ id }) => show(id)).join(', ')
    const hint = `name one as \`${work}Provider\` in the row @loopguard/web`
    throw new HarnessError(`web: several ${work} providers are available: ${ids}; ${hint}`, 'WEB_PROVIDER_AMBIGUOUS')
  }

  private listed(): string {
    return this.byId.size === 0 ? '; none is registered' : `; registered: ${[...this.byId.keys()].map((id) => show(id)).join(', ')}`
  }

  private checked(provider: P): P {
    const { id, available, [this.work as keyof P]: run } = Object(provider) as Partial<P>
    const bad = (what: string): HarnessError => new HarnessError(`web: a ${this.work} provider ${what}`, 'WEB_BAD_PROVIDER')
    if (typeof id !== 'string' || id.trim() === '') throw bad(`must have a non-blank id, got ${show(id)}`)
    if (typeof available !== 'function') throw bad(`must have available(), ${show(id)} has ${show(available)}`)
    if (typeof run !== 'function') throw bad(`must have ${this.work}(), ${show(id)} has ${show(run)}`)
    return provider
  }
}

function isUsable(provider: Provider): boolean {
  try {
    return provider.available() === true
  } catch (thrown) {
    throw new HarnessError(`web: available() of provider ${show(provider.id)} failed: ${messageOf(thrown)}`, 'WEB_PROVIDER_ERROR', {
      cause: thrown,
    })
  }
}
