import { CallId, codeOf, StreamAssembler, type ModelBlock, type StreamChunk } from '@loopguard/llm'
import fc from 'fast-check'
import { expect, it } from 'vitest'

const call = (name: string): ModelBlock => ({ type: 'tool-call', id: CallId(`c-${name}`), name, arguments: '{"a":1}' })
const words = (value: string): ModelBlock => ({ type: 'text', text: value })

function fed(chunks: readonly StreamChunk[]): StreamAssembler {
  const assembler = new StreamAssembler()
  for (const chunk of chunks) assembler.push(chunk)
  return assembler
}

/** The chunks of one block, its text in two pieces. */
function chunksOf(block: ModelBlock, index: number): StreamChunk[] {
  const whole = block.type === 'tool-call' ? block.arguments : block.text
  const pieces = [whole.slice(0, 1), whole.slice(1)]
  return [
    { type: 'block-start', index, blockType: block.type },
    ...pieces.map((piece): StreamChunk => {
      if (block.type === 'tool-call') return { type: 'tool-call-delta', index, id: block.id, name: block.name, argumentsDelta: piece }
      return { type: `${block.type}-delta`, index, text: piece }
    }),
    { type: 'block-end', index, block },
  ]
}

it('gathers blocks in the order of their index, however they interleave', () => {
  const blocks = fc.array(
    fc.oneof(
      fc.string().map(words),
      fc.string().map(call),
      fc.string().map((text): ModelBlock => ({ type: 'reasoning', text })),
    ),
    { maxLength: 5 },
  )
  fc.assert(
    fc.property(blocks, fc.infiniteStream(fc.nat()), (list, choices) => {
      const queues = list.map((block, index) => chunksOf(block, index))
      const mixed: StreamChunk[] = []
      while (queues.some((queue) => queue.length > 0)) {
        const open = queues.filter((queue) => queue.length > 0)
        mixed.push(open[choices.next().value % open.length]!.shift()!)
      }
      expect(fed(mixed).content()).toEqual(list)
    }),
  )
})

it('keeps the usage and the finish', () => {
  const assembler = fed([
    { type: 'usage', usage: { inputTokens: 1, outputTokens: 2 } },
    { type: 'finish', reason: { kind: 'stop' } },
  ])
  expect([assembler.usage, assembler.finish, assembler.content()]).toEqual([{ inputTokens: 1, outputTokens: 2 }, { kind: 'stop' }, []])
})

it('of a stream that was cut it keeps the text so far, whole blocks and pieces, and no tool call', () => {
  const assembler = fed([
    ...chunksOf(words('whole'), 0),
    ...chunksOf(call('done'), 1),
    { type: 'block-start', index: 2, blockType: 'reasoning' },
    { type: 'reasoning-delta', index: 2, text: 'let me ' },
    { type: 'reasoning-delta', index: 2, text: 'see' },
    { type: 'block-start', index: 3, blockType: 'text' },
    { type: 'block-start', index: 4, blockType: 'tool-call' },
    { type: 'tool-call-delta', index: 4, id: CallId('c'), name: 'read', argumentsDelta: '{' },
  ])
  expect(assembler.partialContent()).toEqual([words('whole'), { type: 'reasoning', text: 'let me see' }])
  expect(assembler.content()).toEqual([words('whole'), call('done')])
})

it('of a stream that was cut it keeps what a provider attached to whole blocks, empty ones too', () => {
  const signed: ModelBlock = { type: 'reasoning', text: 'hm', providerData: { anthropic: { signature: 's' } } }
  const redacted: ModelBlock = { type: 'reasoning', text: '', providerData: { anthropic: { redactedData: 'd' } } }
  const assembler = fed([...chunksOf(signed, 0), ...chunksOf(redacted, 1), ...chunksOf(words(''), 2)])
  expect(assembler.partialContent()).toEqual([signed, redacted])
})

it('of a stream that was cut it keeps a block that came whole, without a delta', () => {
  const assembler = fed([
    { type: 'block-start', index: 0, blockType: 'reasoning' },
    { type: 'block-end', index: 0, block: { type: 'reasoning', text: 'hm' } },
    { type: 'block-start', index: 1, blockType: 'text' },
    { type: 'block-end', index: 1, block: words('at once') },
    { type: 'block-start', index: 2, blockType: 'text' },
    { type: 'block-end', index: 2, block: words('') },
  ])
  expect(assembler.partialContent()).toEqual([{ type: 'reasoning', text: 'hm' }, words('at once')])
})

const start: StreamChunk = { type: 'block-start', index: 0, blockType: 'text' }
const delta: StreamChunk = { type: 'text-delta', index: 0, text: 'x' }
const end: StreamChunk = { type: 'block-end', index: 0, block: words('x') }

it.each<[string, StreamChunk[], string]>([
  ['a delta of a block that was not started', [delta], 'block 0 was not started'],
  ['an end of a block that was not started', [end], 'block 0 was not started'],
  ['a block that starts twice', [start, start], 'block 0 was started twice'],
  ['a delta after the end', [start, end, delta], 'block 0 has ended already'],
  ['a second end', [start, end, end], 'block 0 has ended already'],
  ['a delta of another type', [start, { type: 'reasoning-delta', index: 0, text: 'x' }], 'block 0 is a text, not a reasoning'],
  ['an end of another type', [start, { type: 'block-end', index: 0, block: call('x') }], 'block 0 is a text, not a tool-call'],
  ['a chunk that nobody knows', [{ type: 'ping' } as unknown as StreamChunk], 'unknown chunk type "ping"'],
])('refuses %s', (_what, chunks, why) => {
  let thrown: unknown
  try {
    fed(chunks)
  } catch (error) {
    thrown = error
  }
  expect([codeOf(thrown), (thrown as Error).message]).toEqual(['BAD_STREAM', `malformed model stream: ${why}`])
})
