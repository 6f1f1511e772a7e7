/** The run of equal calls that an agent is in: the last tracked call and how often in a row it was made. */
interface Chain {
  readonly identity: string
  length: number
}

/** One chain for each live agent object; it goes with that object. */
export class Chains {
  private readonly chains = new WeakMap<object, Chain>()

  /** Counts a call, and returns how many like it there have been in a row. */
  count(agent: object, identity: string): number {
    const chain = this.chains.get(agent)
    if (chain?.identity === identity) return ++chain.length
    this.chains.set(agent, { identity, length: 1 })
    return 1
  }

  forget(agent: object): void {
    this.chains.delete(agent)
  }
}
