import type { StreamChunk } from './stream.ts'

/**
 * The same stream, which ends as soon as it idles behind its finish: what comes there at once is passed on; later chunks are not waited for.
 * A source that is given up there is closed without waiting for that either.
 */
export function endAtFinish(stream: AsyncIterable<StreamChunk>): AsyncIterable<StreamChunk> {
  return {
    [Symbol.asyncIterator](): AsyncIterator<StreamChunk, unknown> {
      const source: AsyncIterator<StreamChunk, unknown> = stream[Symbol.asyncIterator]()
      let finished = false
      const noted = (result: IteratorResult<StreamChunk, unknown>): IteratorResult<StreamChunk, unknown> => {
        finished = (result.value as StreamChunk | null | undefined)?.type === 'finish'
        return result
      }
      const behind = async (): Promise<IteratorResult<StreamChunk, unknown>> => (await atOnce(source.next())) ?? giveUp(source)
      return {
        // Without an async function, which costs several times as much a chunk. Adapters may give results that are no promises.
        next: () => (finished ? behind() : Promise.resolve(source.next()).then(noted)),
        return: async () => (await source.return?.()) ?? END,
      }
    },
  }
}

const END: IteratorReturnResult<undefined> = { done: true, value: undefined }
/** Awaited for a microtask. */
const SETTLED = Promise.resolve()

/** Waits for what settles within a few microtasks. Not by a timer, which tests may have stopped. */
async function atOnce<T extends object>(asked: PromiseLike<T>): Promise<T | undefined> {
  let answer: { readonly result: T } | { readonly thrown: unknown } | undefined
  void asked.then(
    (result) => (answer = { result }),
    (thrown: unknown) => (answer = { thrown }),
  )
  for (let turn = 0; turn < 50 && answer === undefined; turn++) await SETTLED
  if (answer !== undefined && 'thrown' in answer) throw answer.thrown
  return answer?.result
}

function giveUp(source: AsyncIterator<StreamChunk, unknown>): IteratorResult<StreamChunk, unknown> {
  void Promise.resolve(source.return?.()).catch(() => {})
  return END
}
