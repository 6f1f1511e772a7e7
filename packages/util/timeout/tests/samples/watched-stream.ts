import { idleWatchdog } from '@loopguard/timeout'

export async function* lines(url: string, user?: AbortSignal): AsyncGenerator<string> {
  using watch = idleWatchdog(user, 30_000, 'STREAM_IDLE')
  const response = await fetch(url, { signal: watch.signal })
  const chunks = response.body!.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]()
  for (;;) {
    const { done, value } = await watch.next(chunks)
    if (done) return
    yield value // what the consumer does now is not idle time
  }
}
