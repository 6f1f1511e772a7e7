import { hopIfDue } from '@loopguard/kit'
import { type Asked, endOfThrown, endWithoutFinish } from './ends.ts'
import type { StreamChunk } from './stream.ts'

/** What an iterator of chunks answers. */
export type Result = IteratorResult<StreamChunk, unknown>

/** How many chunks behind a finish are passed on without a hop; a source that goes on for longer is not at its end, and must let go. */
const AT_ONCE = 100

/**
 * What the innermost listener gets: the stream of the adapter, which is opened at the first demand, never throws, and finishes. It ends as
 * soon as it idles behind its finish: what comes there at once is passed on; later chunks are not waited for. A source that is given up
 * there is closed without waiting for that either. Not a generator, which costs several times as much a chunk.
 */
export function innermost(request: Asked, open: () => AsyncIterable<StreamChunk>): AsyncIterable<StreamChunk> {
  return { [Symbol.asyncIterator]: () => new Innermost(request, open) }
}

class Innermost implements AsyncIterator<StreamChunk, unknown> {
  private readonly request: Asked
  private readonly open: () => AsyncIterable<StreamChunk>
  private source: AsyncIterator<StreamChunk, unknown> | undefined
  private state: 'open' | 'finished' | 'over' = 'open'
  private behind = 0

  constructor(request: Asked, open: () => AsyncIterable<StreamChunk>) {
    this.request = request
    this.open = open
  }

  next(): Promise<Result> {
    if (this.state === 'over') return Promise.resolve(END)
    // To a listener that looks behind the finish for what is there at once, a hop would be idling.
    const hop = this.state === 'finished' && ++this.behind <= AT_ONCE ? undefined : hopIfDue()
    if (hop !== undefined) return hop.then(() => this.ask())
    return this.ask()
  }

  async return(): Promise<Result> {
    if (this.state !== 'over') {
      this.state = 'over'
      await this.close()
    }
    return END
  }

  private ask(): Promise<Result> {
    // Its consumer has left meanwhile.
    if (this.state === 'over') return Promise.resolve(END)
    try {
      this.source ??= this.open()[Symbol.asyncIterator]()
      if (this.state === 'finished') return this.lookBehind(this.source)
      // Adapters may give results that are no promises.
      return Promise.resolve(this.source.next()).then(this.taken, this.failed)
    } catch (thrown) {
      return Promise.resolve(this.failed(thrown))
    }
  }

  private async lookBehind(source: AsyncIterator<StreamChunk, unknown>): Promise<Result> {
    const late = await atOnce(() => source.next())
    if (late === undefined) void this.return()
    else if (late.done === true) this.state = 'over'
    return late ?? END
  }

  private readonly taken = (result: Result): Result | Promise<Result> => {
    if (result.done === true) return this.end(endWithoutFinish)
    try {
      if (result.value.type === 'finish') this.state = 'finished'
      return result
    } catch (thrown) {
      // What is no chunk ends the stream as a throw does, and the source is closed before.
      const end = this.failed(thrown)
      return this.close().then(() => end)
    }
  }

  private readonly failed = (thrown: unknown): Result => this.end((request) => endOfThrown(request, thrown))

  /** The finish that is missing, if it is. */
  private end(finishOf: (request: Asked) => StreamChunk): Result {
    const isFinishDue = this.state === 'open'
    this.state = 'over'
    return isFinishDue ? { done: false, value: finishOf(this.request) } : END
  }

  /** What that throws is nobody's any more. */
  private async close(): Promise<void> {
    try {
      await this.source?.return?.()
    } catch {}
  }
}

export const END: Result = Object.freeze({ done: true, value: undefined })

/** Waits for what settles within a few microtasks; what fails ends as well. Not by a timer, which tests may have stopped. */
export async function atOnce(ask: () => PromiseLike<Result>): Promise<Result | undefined> {
  let answer: Result | undefined
  const failed = (): Result => (answer = END)
  try {
    void ask().then((result) => (answer = result), failed)
  } catch {
    return failed()
  }
  for (let turn = 0; turn < 50 && answer === undefined; turn++) await SETTLED
  return answer
}

/** Awaited for a microtask. */
const SETTLED = Promise.resolve()
