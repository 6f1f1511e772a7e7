// A request to a model: time and heap from `stream(request)` to its first byte on the wire, beside the provider package alone, which is
// given a prompt that is ready; and the time per delta of an answer.
import { once } from 'node:events'
import { createServer } from 'node:net'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { Context } from '@deepseek-ai/cordis'
import * as aiSdkModel from '@loopguard/ai-sdk-model'
import { createAssistantMessage, createToolResultMessage, createUserMessage, LlmRuntime, text } from '@loopguard/llm'
import { asked } from '../hosts/probe-model.mjs'
import { bytes, heap, report, times, us } from '../measure.mjs'

const SIZES = [10, 1_000, 10_000]
const DELTAS = 20_000
/** The lower quartile: what else a machine does at the moment only ever adds. */
const quartile = (values) => values.toSorted((a, b) => a - b)[values.length >> 2]

const event = (delta, reason = null) =>
  `data: ${JSON.stringify({ id: '1', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`
const answerOf = (deltas) => `${event({ content: 'a few words ' }).repeat(deltas)}${event({}, 'stop')}data: [DONE]\n\n`

/** The first byte of the request that is awaited, and the answer to it. */
let arrived = () => {}
let answer = answerOf(1)
const server = createServer((socket) => {
  let body = ''
  let expected = -1
  socket.setEncoding('latin1').on('error', () => {})
  socket.on('data', (data) => {
    if (expected < 0) {
      if (body === '') arrived()
      body += data
      const end = body.indexOf('\r\n\r\n')
      if (end < 0) return
      expected = end + 4 + Number(/content-length: (\d+)/i.exec(body)[1])
    } else body += data
    if (body.length < expected) return
    body = ''
    expected = -1
    socket.write(`HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: ${answer.length}\r\n\r\n${answer}`)
  })
}).listen(0, '127.0.0.1')
await once(server, 'listening')
const baseURL = `http://127.0.0.1:${server.address().port}/v1`

/** A conversation with calls, as agents have it. */
function history(count) {
  const source = { provider: 'served', model: 'any' }
  return Array.from({ length: count }, (_, index) => {
    const callId = `call_${index - (index % 3)}`
    if (index % 3 === 0)
      return createUserMessage({ content: [text(`Question ${index}: what does this file say about it?`)], source: { kind: 'user' } })
    if (index % 3 === 1) {
      const call = {
        type: 'tool-call',
        id: callId,
        name: 'read',
        arguments: JSON.stringify({ path: `src/file-${index}.ts`, from: 1, to: 80 }),
      }
      return createAssistantMessage({ content: [text('I read it.'), call], source })
    }
    return createToolResultMessage({ callId, content: [text('const value = 1\n'.repeat(20))], isError: false })
  })
}

/** The same conversation in the words of the package, so that nothing of ours is in its time. */
function promptOf(messages) {
  return messages.map(({ role, content: [first, second] }) => {
    if (role === 'assistant') {
      const call = { type: 'tool-call', toolCallId: second.id, toolName: 'read', input: JSON.parse(second.arguments) }
      return { role, content: [{ type: 'text', text: first.text }, call] }
    }
    if (first.type === 'text') return { role, content: [{ type: 'text', text: first.text }] }
    return {
      role: 'tool',
      content: [
        { type: 'tool-result', toolCallId: first.toolCallId, toolName: 'read', output: { type: 'text', value: first.content[0].text } },
      ],
    }
  })
}

const ctx = new Context()
await ctx.plugin(LlmRuntime)
await ctx.plugin(aiSdkModel, { provider: 'served', kind: 'openai-compatible', baseURL })
process.env.PROBE_KEY = 'none'
const probe = { package: new URL('../hosts/probe-model.mjs', import.meta.url).href, factory: 'createProbe', apiKeyEnv: 'PROBE_KEY' }
await ctx.plugin(aiSdkModel, { provider: 'probe', baseURL, ...probe })
const model = createOpenAICompatible({ name: 'served', baseURL, includeUsage: true })('any')

const ours = async (messages, provider = 'served') => {
  const { signal } = new AbortController()
  for await (const _chunk of ctx.llm.stream({ provider, model: 'any', messages, signal, sessionId: 'bench' }));
}
const packageAlone = async (prompt) => {
  const { stream } = await model.doStream({ prompt, abortSignal: new AbortController().signal })
  const reader = stream.getReader()
  while (!(await reader.read()).done);
}

/** Nanoseconds, and bytes of heap that were taken, until the first byte has come. */
async function untilFirstByte(ask) {
  const before = process.memoryUsage().heapUsed
  const startedAt = performance.now()
  let found
  arrived = () => (found ??= { ns: (performance.now() - startedAt) * 1e6, heap: process.memoryUsage().heapUsed - before })
  await ask()
  return found
}

/** Nanoseconds from `stream(request)` until the package is asked. */
async function shares(messages, rounds) {
  const seen = []
  for (let round = 0; round < rounds + 10; round++) {
    const startedAt = performance.now()
    await ours(messages, 'probe')
    if (round >= 10) seen.push((asked.at - startedAt) * 1e6)
  }
  return seen
}

for (let warm = 0; warm < 200; warm++) {
  const messages = history(30)
  await ours(messages)
  await packageAlone(promptOf(messages))
}

const rows = []
for (const size of SIZES) {
  const rounds = size === 10_000 ? 41 : 201
  const messages = history(size)
  const prompt = promptOf(messages)
  const first = await untilFirstByte(() => ours(messages))
  const seen = { ours: [], alone: [] }
  const taken = { ours: [], alone: [] }
  for (let round = 0; round < rounds; round++) {
    // A forced collection throws compiled code away too, so that only the rounds that look at the heap begin with one.
    const isForHeap = round % 4 === 0
    for (const [name, ask] of [
      ['ours', () => ours(messages)],
      ['alone', () => packageAlone(prompt)],
    ]) {
      if (isForHeap) globalThis.gc()
      ;(isForHeap ? taken : seen)[name].push(await untilFirstByte(ask))
    }
  }
  const of = (list, key) => quartile(list.map((item) => item[key]))
  const name = `${size.toLocaleString('en')} messages`
  rows.push({
    name: `${name}, to the first byte`,
    value: us(of(seen.ours, 'ns')),
    beside: us(of(seen.alone, 'ns')),
    ratio: times(of(seen.alone, 'ns'), of(seen.ours, 'ns')),
  })
  rows.push({ name: `${name}, our own share: until the package is asked`, value: us(quartile(await shares(messages, rounds))) })
  rows.push({ name: `${name}, heap to the first byte`, value: bytes(of(taken.ours, 'heap')), beside: bytes(of(taken.alone, 'heap')) })
  rows.push({ name: `${name}, to the first byte for the first time`, value: us(first.ns) })
}

answer = answerOf(DELTAS)
const perDelta = { ours: [], alone: [] }
const short = history(1)
for (let round = 0; round < 7; round++) {
  for (const [name, ask] of [
    ['ours', () => ours(short)],
    ['alone', () => packageAlone(promptOf(short))],
  ]) {
    await heap()
    const startedAt = performance.now()
    await ask()
    perDelta[name].push(((performance.now() - startedAt) * 1e6) / DELTAS)
  }
}
rows.push({
  name: 'a delta of the answer',
  value: us(quartile(perDelta.ours)),
  beside: us(quartile(perDelta.alone)),
  ratio: times(quartile(perDelta.alone), quartile(perDelta.ours)),
})
report({ title: 'A request to a model, beside the provider package alone', rows })
process.exit(0)
