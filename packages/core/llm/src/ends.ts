import { failureOf, type LlmFailure } from './errors.ts'
import type { StreamChunk } from './stream.ts'

/** What a finish says of its request. */
export interface Asked {
  readonly provider: string
  readonly signal: AbortSignal
}

/** The finish of a stream that threw. */
export function endOfThrown(request: Asked, thrown: unknown): StreamChunk {
  return endOf(request, failureOf(thrown, 'ADAPTER_FAILED'))
}

/** The finish of a stream that ended without one. */
export function endWithoutFinish(request: Asked): StreamChunk {
  return endOf(
    request,
    request.signal.aborted
      ? { message: `the request to provider "${request.provider}" was aborted`, code: 'REQUEST_ABORTED' }
      : { message: `the stream of provider "${request.provider}" ended without a finish`, code: 'NO_FINISH' },
  )
}

function endOf(request: Asked, failure: LlmFailure): StreamChunk {
  return { type: 'finish', reason: { kind: request.signal.aborted ? 'aborted' : 'error', failure } }
}
