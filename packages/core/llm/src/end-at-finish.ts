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
      return {
        async next() {
          if (finished) return (await atOnce(source.next())) ?? giveUp(source)
          const result = await source.next()
          finished = (result.value as StreamChunk | null | undefined)?.type === 'finish'
          return result
        },
        return: async () => (await source.return?.()) ?? END,
      }
    },
  }
}

const END: IteratorReturnResult<undefined> = { done: true, value: undefined }

/** Waits for what settles within a few microtasks. Not by a timer, which tests may have stopped. */
async function atOnce<T extends object>(asked: PromiseLike<T>): Promise<T | undefined> {
  let answer: { readonly result: T } | { readonly thrown: unknown } | undefined
  void asked.then(
    (result) => (answer = { result }),
    (thrown: unknown) => (answer = { thrown }),
  )
  for (let turn = 0; turn < 50 && answer === undefined; turn++) await Promise.resolve()
  if (answer !== undefined && 'thrown' in answer) throw answer.thrown
  return answer?.result
}

function giveUp(source: AsyncIterator<StreamChunk, unknown>): IteratorResult<StreamChunk, unknown> {
  void Promise.resolve(source.return?.()).catch(() => {})
  return END
}
