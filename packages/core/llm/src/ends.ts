import { failureOf, type LlmFailure } from './errors.ts'
import type { LlmRequest } from './runtime.ts'
import type { StreamChunk } from './stream.ts'

/** The finish of a stream that threw. */
export function endOfThrown(request: LlmRequest, thrown: unknown): StreamChunk {
  return endOf(request, failureOf(thrown, 'ADAPTER_FAILED'))
}

/** The finish of a stream that ended without one. */
export function endWithoutFinish(request: LlmRequest): StreamChunk {
  return endOf(
    request,
    request.signal.aborted
      ? { message: `the request to provider "${request.provider}" was aborted`, code: 'REQUEST_ABORTED' }
      : { message: `the stream of provider "${request.provider}" ended without a finish`, code: 'NO_FINISH' },
  )
}

function endOf(request: LlmRequest, failure: LlmFailure): StreamChunk {
  return { type: 'finish', reason: { kind: request.signal.aborted ? 'aborted' : 'error', failure } }
}
