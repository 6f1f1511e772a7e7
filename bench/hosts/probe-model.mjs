// A provider package that only says when it is asked: what is over by then is the adapter's own share of a request.
export const asked = { at: 0 }

export function createProbe() {
  return () => ({
    specificationVersion: 'v4',
    doStream() {
      asked.at = performance.now()
      const finish = { type: 'finish', finishReason: { unified: 'length', raw: 'length' }, usage: { inputTokens: {}, outputTokens: {} } }
      return {
        stream: new ReadableStream({
          start(controller) {
            controller.enqueue(finish)
            controller.close()
          },
        }),
      }
    },
  })
}
