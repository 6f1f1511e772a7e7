import { type Chain, isCount, isDigest } from './chain.ts'
import { show } from './show.ts'

/** A call that failed, and how often with one and the same error. */
export interface Failure {
  /** A digest of the call: 64 hexadecimal digits. */
  identity: string
  /** A digest of the error. */
  error: string
  count: number
}

/** What a tracker of failures knows of an agent. */
export interface Failures {
  /** The latest last. */
  failures: readonly Failure[]
  /** The run under the configuration `quiet`, if there is one. */
  run?: Chain | undefined
}

/** Of the calls that have failed, so many are remembered for each agent. */
const MAX_CALLS = 64

/** The failures of each live agent object since the user spoke; they go with that object. */
export class FailureBook {
  private readonly books = new WeakMap<object, Map<string, Failure>>()

  /** Whether a success has anything to forget. */
  isEmpty(agent: object): boolean {
    return !this.books.get(agent)?.size
  }

  /** Counts a failure, and returns how often that call has failed with that error. */
  count(agent: object, identity: string, error: string): number {
    const book = this.books.get(agent) ?? new Map<string, Failure>()
    const last = book.get(identity)
    const failure = { identity, error, count: last?.error === error ? last.count + 1 : 1 }
    this.keep(agent, book, failure)
    return failure.count
  }

  forgetCall(agent: object, identity: string): void {
    this.books.get(agent)?.delete(identity)
  }

  forget(agent: object): void {
    this.books.delete(agent)
  }

  list(agent: object): Failure[] {
    return Array.from(this.books.get(agent)?.values() ?? [], (failure) => ({ ...failure }))
  }

  /** @throws TypeError `REPEAT_BAD_CHAIN` */
  load(agent: object, failures: unknown): void {
    if (!Array.isArray(failures)) throw bad('failures', failures, 'a list')
    const book = new Map<string, Failure>()
    for (const each of failures as readonly unknown[]) {
      const { identity, error, count } = Object(each) as Partial<Failure>
      if (!isDigest(identity)) throw bad('identity', identity, '64 hexadecimal digits')
      if (!isDigest(error)) throw bad('error', error, '64 hexadecimal digits')
      if (!isCount(count)) throw bad('count', count, 'an integer >= 1')
      this.keep(agent, book, { identity, error, count })
    }
    this.books.set(agent, book)
  }

  private keep(agent: object, book: Map<string, Failure>, failure: Failure): void {
    book.delete(failure.identity)
    const [oldest] = book.keys()
    if (book.size === MAX_CALLS && oldest !== undefined) book.delete(oldest)
    book.set(failure.identity, failure)
    this.books.set(agent, book)
  }
}

function bad(key: string, value: unknown, wanted: string): TypeError {
  const message = `repeated-failure-reminder: \`${key}\` of saved failures must be ${wanted}, got ${show(value)}: load what \`save\` gave`
  return Object.assign(new TypeError(message), { code: 'REPEAT_BAD_CHAIN' })
}
