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
/** Rounds that the engine compiles in. */
const WARM = 6
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
/** Nanoseconds per step: by the clock, and of the processor. No collection comes before: it would drop compiled code. */
async function spending(work) {
  const [startedAt, usage] = [performance.now(), process.cpuUsage()]
  await work()
  const { user, system } = process.cpuUsage(usage)
  return { ns: ((performance.now() - startedAt) * 1e6) / STEPS, cpuNs: ((user + system) * 1e3) / STEPS }
}

/** One turn. */
async function step(sessions) {
  const host = await ours.mount({ timeout: true, remind: true, chunksOf: script(STEPS), sessions, id: `agent-${made++}` })
  const spent = await spending(() => host.say('go'))
  events = host.agent.session.events
  await host.ctx.fiber.dispose()
  return spent
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
for (let round = -WARM; round < ROUNDS; round++) {
  for (const [kind, sessions] of Object.entries(kinds)) {
    if (round < 0 && kind === 'durable') continue
    const spent = await step(sessions)
    if (round >= 0) seen[kind].push(spent)
  }
  for (const [kind, write] of Object.entries(bare)) {
    const spent = await spending(() => write(join(directory, `bare-${made++}`)))
    if (round >= 0) seen[kind].push(spent)
  }
}
const by = (unit) => Object.fromEntries(Object.entries(seen).map(([kind, all]) => [kind, median(all.map((spent) => spent[unit]))]))
const [clock, cpu] = [by('ns'), by('cpuNs')]
/** Of each round by itself, since its moments are as noisy as each other. */
const added = median(seen.files.map(({ cpuNs }, round) => cpuNs - seen.memory[round].cpuNs))
const one = await barrier(1)
const rows = [
  {
    name: 'a step, files beside memory',
    value: us(clock.files),
    beside: us(clock.memory),
    ratio: times(clock.files, clock.memory),
  },
  {
    name: 'a step, durable files beside files',
    value: us(clock.durable),
    beside: us(clock.files),
    ratio: times(clock.durable, clock.files),
  },
  {
    name: 'a step on files, time of the processor, beside a program that writes each of its lines through a `FileHandle`',
    value: us(cpu.files),
    beside: us(cpu.handle),
    ratio: times(cpu.files, cpu.handle),
  },
  {
    name: 'what files add to a step, time of the processor, beside a program that does a `writeSync` of each of its lines',
    value: us(added),
    beside: us(cpu.sync),
    ratio: times(added, cpu.sync),
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
