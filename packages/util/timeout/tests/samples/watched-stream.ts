import { idleWatchdog, type IdleWatchdog } from '@loopguard/timeout'

/** The events of a model's answer. The provider may be silent for two minutes at most: before the headers, between two bytes, anywhere. */
export async function* events(url: string, request: string, user?: AbortSignal, idleMs = 120_000): AsyncGenerator<string> {
  using watch = idleWatchdog(user, idleMs, 'STREAM_IDLE')
  const answer = ask(url, request, watch)
  try {
    for (;;) {
      const { done, value } = await watch.next(answer)
      if (done) return
      yield value // what the consumer does now is not idle time
    }
  } finally {
    await answer.return()
  }
}

async function* ask(url: string, body: string, watch: IdleWatchdog): AsyncGenerator<string, void, void> {
  const response = await fetch(url, { method: 'POST', body, signal: watch.signal })
  let pending = ''
  for await (const text of response.body!.pipeThrough(new TextDecoderStream())) {
    watch.pulse() // half an event and a comment are signs of life too
    const parts = (pending + text).split('\n\n')
    pending = parts.pop() ?? ''
    for (const event of parts) if (event.startsWith('data: ')) yield event.slice('data: '.length)
  }
}
