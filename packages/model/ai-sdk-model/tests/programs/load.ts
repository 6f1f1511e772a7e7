// Agents without a pause on one slow server, in two halves of the same length: what is left behind each, as JSON.
import { getEventListeners } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryUsage } from 'node:process'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import * as aiSdkModel from '@loopguard/ai-sdk-model'
import { SessionId } from '@loopguard/llm'
import { createHarness, userMessage } from '@loopguard/testkit'
import { answers, framesOf, type ServerAnswer, startModelServer, streams } from '@loopguard/testkit/model-server'

const AGENTS = 200
const SECONDS = Number(process.argv[2])
const warnings: string[] = []
process.on('warning', (warning) => warnings.push(warning.message))

async function heap(): Promise<number> {
  for (let turn = 0; turn < 10; turn++) {
    await setImmediate()
    globalThis.gc?.()
  }
  return memoryUsage().heapUsed
}

const slow = (cutAfter = Infinity, end: 'clean' | 'break' | 'open' = 'clean', hasCall = false): ServerAnswer =>
  streams(
    (dialect) =>
      framesOf(dialect, { text: 'one two three four', ...(hasCall && { calls: [{ name: 'look', arguments: {} }] }) })
        .slice(0, cutAfter)
        .flatMap((frame) => [() => sleep(60), frame]),
    { end },
  )

let asked = 0
const kinds = [
  () => slow(),
  () => slow(Infinity, 'clean', true),
  () => slow(3, 'break'),
  () => slow(),
  () => slow(3),
  () => answers(429, 'slow down'),
  () => slow(Infinity, 'clean', true),
  // This one is cancelled.
  () => slow(3, 'open'),
]
const server = await startModelServer([() => (kinds[asked++ % kinds.length] as () => ServerAnswer)()])
process.env['SERVED_KEY'] = 'sk-none'
const directory = mkdtempSync(join(tmpdir(), 'load-'))
const row = (kind: string): object => ({ provider: kind, kind, baseURL: server.baseURL, apiKeyEnv: 'SERVED_KEY' })
const harness = await createHarness({
  invariants: false,
  // In memory the logs would be kept.
  sessions: { directory },
  tools: [{ name: 'look', description: 'Looks.', parameters: {}, execute: () => 'blue' }],
  plugins: [
    [aiSdkModel, row('openai-compatible')],
    [aiSdkModel, row('anthropic')],
  ],
})

const ends: Record<string, number> = {}
let listeners = 0
let turns = 0
let made = 0
/** Of the requests of each agent. */
const requestSignals = new Map<string, AbortSignal[]>()
harness.ctx.on('llm/stream', (request, next) => {
  requestSignals.get(request.sessionId)?.push(request.signal)
  return next()
})

/** One agent, from its first word to its end. */
async function conversation(provider: string): Promise<void> {
  const id = `agent-${made++}`
  const mine: AbortSignal[] = []
  requestSignals.set(id, mine)
  const agent = harness.ctx.agentLoop.create(SessionId(id), { provider, model: 'any' })
  agent.followup(userMessage('hi'))
  const cancel = setTimeout(() => agent.cancel(), 3_000)
  await agent.whenIdle()
  clearTimeout(cancel)
  turns++
  const last = agent.session.events.at(-1)
  const end = last?.type === 'turn/end' ? last.data.reason.kind : 'none'
  ends[end] = (ends[end] ?? 0) + 1
  await agent.dispose()
  for (const signal of mine) listeners += getEventListeners(signal, 'abort').length
  requestSignals.delete(id)
}

async function half(): Promise<void> {
  const until = performance.now() + (SECONDS * 1000) / 2
  const work = async (index: number): Promise<void> => {
    // One at least, however slow the machine is.
    do await conversation(index % 2 === 0 ? 'openai-compatible' : 'anthropic')
    while (performance.now() < until)
  }
  await Promise.all(Array.from({ length: AGENTS }, (_, index) => work(index)))
  ;(server.requests as unknown[]).length = 0
}

await half()
const heapAtHalf = await heap()
const turnsAtHalf = turns
await half()
const heapAtEnd = await heap()
await harness.dispose()
let sockets = await server.connections()
for (let tries = 0; sockets > 0 && tries < 100; tries++) {
  await sleep(20)
  sockets = await server.connections()
}
await server.close()
rmSync(directory, { recursive: true })
console.log(JSON.stringify({ turns, turnsAtHalf, heapAtHalf, heapAtEnd, listeners, sockets, ends, warnings }))
