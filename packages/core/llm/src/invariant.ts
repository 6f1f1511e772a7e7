import { companion, type Companion, listen } from '@loopguard/invariants/companion'
import type { LlmRequest } from './runtime.ts'
import type { ModelBlock, StreamChunk } from './stream.ts'
import { type Judge, Watched } from './watched.ts'

const plugin: Companion = companion({
  name: 'llm-invariant',
  packageName: '@loopguard/llm',
  inject: ['llm'],
  install(ctx, fail) {
    // Outermost: what the consumer of the stream gets, wrappers included.
    const watch = ({ provider, sessionId }: LlmRequest, stream: AsyncIterable<StreamChunk>): AsyncIterable<StreamChunk> => ({
      [Symbol.asyncIterator]: () =>
        new Watched(stream[Symbol.asyncIterator](), new ChunkGrammar(), (complaint) =>
          fail(`stream of provider "${provider}", session "${sessionId}": ${complaint}`),
        ),
    })
    listen(ctx, 'llm/stream', (request, next) => watch(request, next()), { prepend: true })
  },
})

export const name: string = plugin.name
export const inject: string[] = plugin.inject
/** Checks the grammar of the chunks that each stream yields, and that none comes after the finish. */
export const apply: Companion['apply'] = plugin.apply

interface Block {
  readonly type: ModelBlock['type']
  text: string
  id?: string
  name?: string
  ended: boolean
}

/** What may follow what, told anew so that the assembler is not checked against itself. */
class ChunkGrammar implements Judge {
  private readonly blocks = new Map<number, Block>()
  private finished = false

  next(chunk: StreamChunk): string | undefined {
    if (this.finished) return this.late(chunk)
    switch (chunk.type) {
      case 'block-start':
        if (this.blocks.has(chunk.index)) return `block ${chunk.index} was started twice`
        this.blocks.set(chunk.index, { type: chunk.blockType, text: '', ended: false })
        return undefined
      case 'text-delta':
        return this.delta(chunk.index, 'text', chunk.text)
      case 'reasoning-delta':
        return this.delta(chunk.index, 'reasoning', chunk.text)
      case 'tool-call-delta': {
        const complaint = this.delta(chunk.index, 'tool-call', chunk.argumentsDelta)
        return complaint ?? this.call(chunk.index, chunk.id, chunk.name)
      }
      case 'block-end':
        return this.endBlock(chunk.index, chunk.block)
      case 'usage':
        return undefined
      case 'finish': {
        this.finished = true
        const { kind } = chunk.reason
        // A stream that was cut or failed may leave a block open; one that says that all is well may not.
        const [index] = [...this.blocks].find(([, { ended }]) => !ended) ?? []
        return index === undefined || (kind !== 'stop' && kind !== 'tool-calls')
          ? undefined
          : `it finished (${kind}) while block ${index} was open`
      }
      default:
        return `unknown chunk type ${JSON.stringify((chunk as { type?: unknown }).type)}`
    }
  }

  end(): string | undefined {
    return this.finished ? undefined : 'it ended without a finish'
  }

  late({ type }: StreamChunk): string {
    return `a "${type}" chunk came after the finish`
  }

  private delta(index: number, type: ModelBlock['type'], text: string): string | undefined {
    const block = this.blocks.get(index)
    if (block === undefined) return `block ${index} was not started`
    if (block.ended) return `block ${index} has ended already`
    if (block.type !== type) return `block ${index} is a ${block.type}, not a ${type}`
    block.text += text
    return undefined
  }

  private call(index: number, id: string, name: string | undefined): string | undefined {
    const block = this.blocks.get(index) as Block
    if ((block.id ?? id) !== id) return `block ${index} is call "${block.id}", and became call "${id}"`
    block.id = id
    if (name !== undefined) block.name = name
    return undefined
  }

  private endBlock(index: number, whole: ModelBlock): string | undefined {
    const complaint = this.delta(index, whole.type, '')
    if (complaint !== undefined) return complaint
    const block = this.blocks.get(index) as Block
    block.ended = true
    if (block.text !== '' && block.text !== (whole.type === 'tool-call' ? whole.arguments : whole.text))
      return `block ${index} ended with another text than its deltas spell`
    if (whole.type !== 'tool-call' || ((block.id ?? whole.id) === whole.id && (block.name ?? whole.name) === whole.name)) return undefined
    return `block ${index} ended as another call than its deltas name`
  }
}
