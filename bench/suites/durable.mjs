// What a log costs: a step of the loop on each kind of log, beside a bare program that writes the same lines, one write an event; and one
// barrier with one session and with many side by side.
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Context } from '@deepseek-ai/cordis'
import SessionStore from '@loopguard/session'
import * as ours from '../hosts/ours.mjs'
import { report, times, us } from '../measure.mjs'

const STEPS = 500
const ROUNDS = 9
const BARRIERS = 200

const directory = mkdtempSync(join(tmpdir(), 'loopguard-bench-'))
const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1]

function script(steps) {
  let step = 0
  return () => {
    if (step >= steps) return [{ type: 'finish', reason: { kind: 'stop' } }]
    const id = `call-${++step}`
    const block = { type: 'tool-call', id, name: 'echo', arguments: `{"n":${step}}` }
    return [
      { type: 'block-start', index: 0, blockType: 'tool-call' },
      { type: 'block-end', index: 0, block },
      { type: 'finish', reason: { kind: 'tool-calls' } },
    ]
  }
}

let made = 0
/** The events of the latest turn. */
let events = []
/** Nanoseconds per step of one turn. */
async function step(sessions) {
  const host = await ours.mount({ timeout: true, remind: true, chunksOf: script(STEPS), sessions, id: `agent-${made++}` })
  globalThis.gc()
  const startedAt = performance.now()
  await host.say('go')
  const ns = ((performance.now() - startedAt) * 1e6) / STEPS
  events = host.agent.session.events
  await host.ctx.fiber.dispose()
  return ns
}

const line = (event) => `${JSON.stringify(event)}\n`
/** What a program without an agent takes for the lines of one step: each written by itself, in order. */
const bare = {
  async handle(file) {
    const handle = await open(file, 'a')
    for (const event of events) await handle.write(line(event))
    await handle.close()
  },
  sync(file) {
    const fd = openSync(file, 'a')
    for (const event of events) writeSync(fd, line(event))
    closeSync(fd)
  },
}

async function bareStep(write) {
  globalThis.gc()
  const startedAt = performance.now()
  await write(join(directory, `bare-${made++}`))
  return ((performance.now() - startedAt) * 1e6) / STEPS
}

/** Nanoseconds per barrier of each of `count` sessions that wait side by side. */
async function barrier(count) {
  const ctx = new Context()
  await ctx.plugin(SessionStore, { directory, durable: true })
  const sessions = Array.from({ length: count }, () => ctx.sessions.create())
  await Promise.all(sessions.map(async (session) => session.flush()))
  const startedAt = performance.now()
  for (let round = 0; round < BARRIERS; round++) {
    await Promise.all(sessions.map(async (session) => (session.append('bench/note', round), session.flush())))
  }
  const ns = ((performance.now() - startedAt) * 1e6) / (BARRIERS * count)
  await ctx.fiber.dispose()
  return ns
}

const kinds = { memory: {}, files: { directory }, durable: { directory, durable: true } }
const seen = { memory: [], files: [], durable: [], handle: [], sync: [] }
for (let round = -1; round < ROUNDS; round++) {
  for (const [kind, sessions] of Object.entries(kinds)) {
    const ns = await step(sessions)
    if (round >= 0) seen[kind].push(ns)
  }
  for (const [kind, write] of Object.entries(bare)) {
    const ns = await bareStep(write)
    if (round >= 0) seen[kind].push(ns)
  }
}
/** Of each round by itself, since its moments are as noisy as each other. */
const added = median(seen.files.map((ns, round) => ns - seen.memory[round]))
const one = await barrier(1)
const rows = [
  {
    name: 'a step, files beside memory',
    value: us(median(seen.files)),
    beside: us(median(seen.memory)),
    ratio: times(median(seen.files), median(seen.memory)),
  },
  {
    name: 'a step, durable files beside files',
    value: us(median(seen.durable)),
    beside: us(median(seen.files)),
    ratio: times(median(seen.durable), median(seen.files)),
  },
  {
    name: 'a step on files, beside a program that writes each of its lines through a `FileHandle`',
    value: us(median(seen.files)),
    beside: us(median(seen.handle)),
    ratio: times(median(seen.files), median(seen.handle)),
  },
  {
    name: 'what files add to a step, beside a program that does a `writeSync` of each of its lines',
    value: us(added),
    beside: us(median(seen.sync)),
    ratio: times(added, median(seen.sync)),
  },
  { name: 'one barrier, one session', value: us(one) },
]
for (const count of [10, 100]) {
  const each = await barrier(count)
  rows.push({ name: `one barrier, ${count} sessions side by side`, value: `${us(each)} each`, beside: us(one), ratio: times(one, each) })
}
report({ title: 'What a log and its barriers cost', rows })
rmSync(directory, { recursive: true, force: true })
process.exit(0)
