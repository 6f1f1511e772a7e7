import { atOnce, END, type Result } from './innermost.ts'
import type { StreamChunk } from './stream.ts'

/** What judges the chunks of a stream: each says what is wrong, if something is. */
export interface Judge {
  next(chunk: StreamChunk): string | undefined
  end(): string | undefined
  late(chunk: StreamChunk): string
}

/**
 * Passes a stream on and has each chunk judged. What `complain` throws is the consumer's, and the source is closed before. Not a
 * generator, which costs several times as much a chunk.
 */
export class Watched implements AsyncIterator<StreamChunk, unknown> {
  private readonly source: AsyncIterator<StreamChunk, unknown>
  private readonly judge: Judge
  private readonly complain: (complaint: string) => void
  private state: 'open' | 'finished' | 'over' = 'open'

  constructor(source: AsyncIterator<StreamChunk, unknown>, judge: Judge, complain: (complaint: string) => void) {
    this.source = source
    this.judge = judge
    this.complain = complain
  }

  next(): Promise<Result> {
    if (this.state === 'over') return Promise.resolve(END)
    // Of what a consumer asks for itself, nothing is looked for.
    this.state = 'open'
    return Promise.resolve(this.source.next()).then(this.taken, this.failed)
  }

  async return(): Promise<Result> {
    const { source, state } = this
    this.state = 'over'
    if (state === 'open') await source.return?.()
    else if (state === 'finished') {
      const late = await lookBehind(source)
      if (late !== undefined) this.complain(this.judge.late(late))
    }
    return END
  }

  private readonly taken = (result: Result): Result | Promise<Result> => {
    if (result.done === true) this.state = 'over'
    try {
      const complaint = result.done === true ? this.judge.end() : this.judge.next(result.value)
      if (complaint !== undefined) this.complain(complaint)
    } catch (violation) {
      return this.return().then(() => {
        throw violation
      })
    }
    if (result.done !== true && result.value.type === 'finish') this.state = 'finished'
    return result
  }

  private readonly failed = (thrown: unknown): never => {
    this.state = 'over'
    throw thrown
  }
}

/**
 * A consumer stops at the finish, so what stands behind it must be asked for. Only what is there at once is judged: an adapter that
 * idles there must not hold up its consumer.
 */
async function lookBehind(source: AsyncIterator<StreamChunk, unknown>): Promise<StreamChunk | undefined> {
  const late = await atOnce(() => source.next())
  const left = Promise.resolve(source.return?.())
  if (late === undefined) {
    left.catch(() => {})
    return undefined
  }
  await left
  return late.done === true ? undefined : late.value
}
