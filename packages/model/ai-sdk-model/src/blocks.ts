import { messageOf } from '@loopguard/kit'
import { CallId, type ModelBlock, type ProviderData, type StreamChunk } from '@loopguard/llm'
import type { Failures } from './failure.ts'

/** What packages tell with a part, by family; it may hold `undefined`. */
export type Metadata = Readonly<Record<string, Readonly<Record<string, unknown>>>> | undefined

interface Block {
  readonly index: number
  readonly type: ModelBlock['type']
  readonly name: string
  text: string
  data: Readonly<Record<string, object>>
}

/** The blocks of one answer, as they are told. */
export class Blocks {
  /** How many have ended with something in them. */
  count = 0
  private next = 0
  private readonly open = new Map<string, Block>()
  private readonly failures: Failures

  constructor(failures: Failures) {
    this.failures = failures
  }

  get isOpen(): boolean {
    return this.open.size > 0
  }

  start(type: ModelBlock['type'], id: string, name: string, metadata: Metadata): StreamChunk {
    const block: Block = { index: this.next++, type, name, text: '', data: {} }
    add(block, metadata)
    this.open.set(`${type} ${id}`, block)
    return { type: 'block-start', index: block.index, blockType: type }
  }

  /** Deltas without text are no chunks; what they carry beside it counts. */
  *delta(type: ModelBlock['type'], id: string, text: string, metadata: Metadata): Generator<StreamChunk> {
    const block = this.find(type, id)
    add(block, metadata)
    block.text += text
    if (text === '') return
    if (type !== 'tool-call') yield { type: `${type}-delta`, index: block.index, text }
    else yield { type: 'tool-call-delta', index: block.index, id: CallId(id), argumentsDelta: text }
  }

  end(type: 'text' | 'reasoning', id: string, metadata: Metadata): StreamChunk {
    const block = this.find(type, id)
    const data = this.close(block, id, metadata)
    if (block.text !== '' || data !== undefined) this.count++
    return { type: 'block-end', index: block.index, block: { type, text: block.text, ...(data && { providerData: data }) } }
  }

  /** A whole call. Not all packages tell its arguments before. */
  *call(id: string, name: string, input: string, metadata: Metadata): Generator<StreamChunk> {
    if (!this.open.has(`tool-call ${id}`)) yield this.start('tool-call', id, name, undefined)
    const block = this.find('tool-call', id)
    const data = this.close(block, id, metadata)
    this.count++
    const whole = block.text || input || '{}'
    yield {
      type: 'block-end',
      index: block.index,
      block: { type: 'tool-call', id: CallId(id), name, arguments: whole, ...(data && { providerData: data }) },
    }
  }

  private find(type: ModelBlock['type'], id: string): Block {
    const block = this.open.get(`${type} ${id}`)
    if (block !== undefined) return block
    throw this.failures.make('MALFORMED_RESPONSE', `told of a ${type} that it had not begun`, id)
  }

  private close(block: Block, id: string, metadata: Metadata): ProviderData | undefined {
    this.open.delete(`${block.type} ${id}`)
    add(block, metadata)
    try {
      const data = JSON.parse(JSON.stringify(block.data)) as ProviderData
      return Object.keys(data).length === 0 ? undefined : data
    } catch (thrown) {
      throw this.failures.make('MALFORMED_RESPONSE', `sent data that is no JSON with a ${block.type}`, messageOf(thrown))
    }
  }
}

/** Later data wins, key by key. */
function add(block: Block, metadata: Metadata = {}): void {
  for (const [family, data] of Object.entries(metadata)) {
    if (Object.values(data ?? {}).some((value) => value !== undefined))
      block.data = { ...block.data, [family]: { ...block.data[family], ...data } }
  }
}
