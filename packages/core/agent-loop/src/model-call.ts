import { HarnessError, messageOf, show, snapshot } from '@loopguard/kit'
import {
  contentFault,
  failureOf,
  StreamAssembler,
  type ContentBlock,
  type LlmFailure,
  type LlmRequest,
  type StreamChunk,
  type TokenUsage,
} from '@loopguard/llm'
import { type ModelTimes, StreamTimes } from './stream-times.ts'

/** How one model call ended. */
export type ModelCallOutcome =
  | (Said & { readonly kind: 'message'; readonly cut: boolean })
  | (Said & { readonly kind: 'interrupted' })
  | {
      readonly kind: 'failed'
      readonly failure: LlmFailure
      /** What it had said by then. */
      readonly text: string
    }

interface Said {
  readonly content: readonly ContentBlock[]
  readonly usage: TokenUsage | undefined
  /** Absent when the model was not asked. */
  readonly times?: ModelTimes
}

/** One model call: its stream, read to its finish, or until the call is cut. */
export class ModelCall {
  private readonly request: LlmRequest
  private readonly tell: (chunk: StreamChunk) => void
  private readonly assembler = new StreamAssembler()
  private readonly times = new StreamTimes()
  private isCut = false

  /** `tell` is told of each chunk, once it has been taken. Must not throw. */
  constructor(request: LlmRequest, tell: (chunk: StreamChunk) => void) {
    this.request = request
    this.tell = tell
  }

  /** Never rejects. A message that ran into its limit loses its tool calls, an interrupted one too. */
  async read(stream: AsyncIterable<StreamChunk>): Promise<ModelCallOutcome> {
    const { request, assembler } = this
    try {
      for await (const chunk of stream) {
        if (this.isCut) break
        // The assembler refuses what is no chunk.
        assembler.push(chunk)
        this.times.see(chunk)
        this.tell(chunk)
      }
      return this.timed(outcomeOf(request, assembler))
    } catch (thrown) {
      return this.timed(ended(request, assembler, failureOf(thrown, 'BAD_STREAM')))
    }
  }

  /** What it comes to by now. Whatever comes later is dropped, and its source is closed then. The signal must have aborted. */
  cut(): ModelCallOutcome {
    this.isCut = true
    return this.timed(ended(this.request, this.assembler, { message: 'the model stream was given up on', code: 'GAVE_UP' }))
  }

  private timed(outcome: ModelCallOutcome): ModelCallOutcome {
    return outcome.kind === 'failed' ? outcome : { ...outcome, times: this.times.read }
  }
}

function outcomeOf(request: LlmRequest, assembler: StreamAssembler): ModelCallOutcome {
  const { finish, usage } = assembler
  switch (finish?.kind) {
    case 'stop':
    case 'tool-calls':
      return { kind: 'message', content: checked(assembler.content()), usage, cut: false }
    case 'max-tokens':
      return { kind: 'message', content: checked(assembler.partialContent()), usage, cut: true }
    case 'error':
    case 'aborted':
      return ended(request, assembler, checkedFailure(finish.failure))
    default:
      if (finish === undefined) return ended(request, assembler, { message: 'the model stream ended without a finish', code: 'NO_FINISH' })
      throw badStream(`unknown finish kind ${show((finish as { readonly kind?: unknown }).kind)}`)
  }
}

/** It is logged, and a log takes JSON only. */
function checkedFailure(failure: LlmFailure): LlmFailure {
  if (typeof failure?.message !== 'string' || typeof failure.code !== 'string')
    throw badStream(`a failure must have a message and a code, got ${show(failure)}`)
  try {
    return snapshot(failure, 'failure')
  } catch (error) {
    throw badStream(messageOf(error))
  }
}

/** A stream that failed under an aborted signal was cancelled, even if it names another cause. */
function ended({ signal }: LlmRequest, assembler: StreamAssembler, failure: LlmFailure): ModelCallOutcome {
  if (signal.aborted) return { kind: 'interrupted', content: assembler.partialContent(), usage: assembler.usage }
  const said = assembler.partialContent().map((block) => (block.type === 'text' ? block.text : ''))
  return { kind: 'failed', failure, text: said.join('') }
}

/** Adapters are foreign code: a call without a name, say, is a failed request, not a call. */
function checked(content: readonly ContentBlock[]): readonly ContentBlock[] {
  const fault = contentFault(content, 'content')
  if (fault !== undefined) throw badStream(fault)
  return content
}

function badStream(why: string): HarnessError {
  return new HarnessError(`malformed model stream: ${why}`, 'BAD_STREAM')
}
