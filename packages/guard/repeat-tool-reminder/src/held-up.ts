/** Something by which the guard counts or forgets, while somebody outside of the guard may hold it up. */
export interface Held {
  readonly kind: 'call' | 'reset'
  /** Whether the guard may have seen it before or after something else of the same agent, nobody knows which. */
  isOvertaken: boolean
}

/** What is held up now, by agent. */
export class HeldUp {
  private readonly byAgent = new WeakMap<object, Set<Held>>()

  begin(agent: object, begun: Held, isExposed: boolean): void {
    const others = this.byAgent.get(agent) ?? new Set()
    for (const other of others) {
      other.isOvertaken = true
      if (other.kind === 'call') begun.isOvertaken = true
      // It cannot be overtaken more than once, and one that was kept from the guard ends without a sign.
      else others.delete(other)
    }
    if (isExposed) this.byAgent.set(agent, others.add(begun))
  }

  /** Only calls need to be ended. */
  end(agent: object, ended: Held): void {
    this.byAgent.get(agent)?.delete(ended)
  }
}
