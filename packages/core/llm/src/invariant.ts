import { companion, type Companion, type InvariantFailure } from '@loopguard/invariants/companion'
import type { LlmRequest } from './runtime.ts'
import type { StreamChunk } from './stream.ts'

const plugin: Companion = companion({
  name: 'llm-invariant',
  packageName: '@loopguard/llm',
  inject: ['llm'],
  install(ctx, fail) {
    // Outermost: what the consumer of the stream gets, wrappers included.
    ctx.on('llm/stream', (request, next) => watch(request, next(), fail), { prepend: true })
  },
})

export const name: string = plugin.name
export const inject: string[] = plugin.inject
/** Checks the grammar of the chunks that each stream yields. */
export const apply: Companion['apply'] = plugin.apply

async function* watch(
  request: LlmRequest,
  stream: AsyncIterable<StreamChunk>,
  fail: InvariantFailure,
): AsyncGenerator<StreamChunk, void, undefined> {
  const grammar = new ChunkGrammar()
  const where = `stream of provider "${request.provider}", session "${request.sessionId}"`
  const source = stream[Symbol.asyncIterator]()
  let behind: Promise<IteratorResult<StreamChunk>> | undefined
  let over = false
  try {
    for (;;) {
      const { done, value } = await source.next()
      if (done === true) {
        over = true
        const complaint = grammar.end()
        if (complaint !== undefined) fail(`${where}: ${complaint}`)
        return
      }
      const complaint = grammar.next(value)
      if (complaint !== undefined) fail(`${where}: ${complaint}`)
      // A consumer stops at the finish, so what stands behind it is asked for ahead.
      if (value.type === 'finish') {
        behind = source.next()
        behind.catch(() => {})
      }
      yield value
    }
  } finally {
    const leave = (): unknown => source.return?.()
    if (behind === undefined) {
      if (!over) await leave()
    } else {
      // Only what is there at once is judged: an adapter that idles behind its finish must not hold up its consumer.
      const late = await Promise.race([behind, patience()]).catch(() => undefined)
      void Promise.resolve(leave()).catch(() => {})
      if (late !== undefined && late.done !== true) fail(`${where}: a "${late.value.type}" chunk came after the finish`)
    }
  }
}

async function patience(): Promise<undefined> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve()
  return undefined
}

interface Open {
  readonly type: string
  text: string
}

/** What may follow what, told anew so that the assembler is not checked against itself. */
class ChunkGrammar {
  private readonly open = new Map<number, Open>()
  private readonly ended = new Set<number>()
  private finished = false

  next(chunk: StreamChunk): string | undefined {
    if (this.finished) return `a "${chunk.type}" chunk came after the finish`
    switch (chunk.type) {
      case 'block-start':
        if (this.open.has(chunk.index) || this.ended.has(chunk.index)) return `block ${chunk.index} was started twice`
        this.open.set(chunk.index, { type: chunk.blockType, text: '' })
        return undefined
      case 'text-delta':
        return this.delta(chunk.index, 'text', chunk.text)
      case 'reasoning-delta':
        return this.delta(chunk.index, 'reasoning', chunk.text)
      case 'tool-call-delta':
        return this.delta(chunk.index, 'tool-call', chunk.argumentsDelta)
      case 'block-end': {
        const { block, index } = chunk
        const complaint = this.delta(index, block.type, '')
        if (complaint !== undefined) return complaint
        const streamed = this.open.get(index)?.text ?? ''
        this.open.delete(index)
        this.ended.add(index)
        const whole = block.type === 'tool-call' ? block.arguments : block.text
        return streamed === '' || streamed === whole ? undefined : `block ${index} ended with another text than its deltas spell`
      }
      case 'usage':
        return undefined
      case 'finish':
        this.finished = true
        return undefined
      default:
        return `unknown chunk type ${JSON.stringify((chunk as { type?: unknown }).type)}`
    }
  }

  end(): string | undefined {
    return this.finished ? undefined : 'it ended without a finish'
  }

  private delta(index: number, type: string, text: string): string | undefined {
    const block = this.open.get(index)
    if (block === undefined) return `block ${index} ${this.ended.has(index) ? 'has ended already' : 'was not started'}`
    if (block.type !== type) return `block ${index} is a ${block.type}, not a ${type}`
    block.text += text
    return undefined
  }
}
