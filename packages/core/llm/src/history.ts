import { Itself } from '@loopguard/kit'
import type { Message } from './message.ts'
import type { LlmRequest } from './runtime.ts'

/** The messages of a request, where they stand: as much of an array as an adapter needs. */
export interface History extends Iterable<Message> {
  readonly length: number
  /** As of an array: negative counts from the end. */
  at(index: number): Message | undefined
}

/**
 * The messages of a request without the copy that reading `messages` makes of a log: for an adapter that walks a long history at each
 * step. It may be kept, and stays what it is. A request that holds an array, a changed copy of another say, gives that array.
 */
export function historyOf(request: Pick<LlmRequest, 'messages'>): History {
  return Shared.historyOf(request) ?? request.messages
}

/**
 * Gives a request the first `count` messages of a log that only grows. They are copied when somebody reads `messages`, once: a copy of a
 * long history costs more than all the rest of a step, and who keeps requests must not keep as many copies.
 */
export function withHistory<T extends object>(request: T, log: readonly Message[], count: number): T & Pick<LlmRequest, 'messages'> {
  return Object.defineProperty(new Shared(request, new Beginning(log, count)), 'messages', Shared.property) as unknown as T &
    Pick<LlmRequest, 'messages'>
}

/** The first messages of a log, in the log's own array, which is not to be had from here. */
class Beginning implements History {
  readonly length: number
  readonly #log: readonly Message[]
  #copy: readonly Message[] | undefined

  constructor(log: readonly Message[], length: number) {
    this.#log = log
    this.length = length
    Object.freeze(this)
  }

  get copy(): readonly Message[] {
    return (this.#copy ??= Object.freeze(this.#log.slice(0, this.length)))
  }

  at(index: number): Message | undefined {
    const from = Math.trunc(index) || 0
    const place = from < 0 ? from + this.length : from
    return place < this.length ? this.#log[place] : undefined
  }

  [Symbol.iterator](): Iterator<Message> {
    return new Walk(this.#log, this.length)
  }
}

class Walk implements IterableIterator<Message> {
  readonly #log: readonly Message[]
  readonly #length: number
  #place = 0

  constructor(log: readonly Message[], length: number) {
    this.#log = log
    this.#length = length
  }

  next(): IteratorResult<Message> {
    return this.#place < this.#length ? { done: false, value: this.#log[this.#place++] as Message } : { done: true, value: undefined }
  }

  [Symbol.iterator](): this {
    return this
  }
}

/** Keeps the history in a private field of the request, so that one getter serves all requests and a spread copy has an array of its own. */
class Shared extends Itself {
  readonly #history: Beginning

  constructor(request: object, history: Beginning) {
    super(request)
    this.#history = history
  }

  static historyOf(request: object): History | undefined {
    return #history in request ? request.#history : undefined
  }

  static readonly property: PropertyDescriptor & ThisType<Shared> = {
    enumerable: true,
    get() {
      return this.#history.copy
    },
  }
}
