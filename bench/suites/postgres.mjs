// Sessions on Postgres beside durable files: one barrier alone, and many sessions side by side. The server is one of its own, on this
// machine, with its defaults: every commit is on the disk before it is answered.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Context } from '@deepseek-ai/cordis'
import SessionStore from '@loopguard/session'
import PostgresSessions, { migrate } from '@loopguard/session-postgres'
import { postgresBin, startPostgres } from '../../scripts/postgres.mjs'
import { report, times, us } from '../measure.mjs'

const SESSIONS = 1000
const RUNS = { files: 1, postgres: 3 }
/** Of files fewer: each barrier is a wait for the disk. */
const ROUNDS = { files: 2, postgres: 20 }
const BARRIERS = 200
const TITLE = 'Sessions on Postgres'
/** About what an event of a conversation holds. */
const WORDS = 'y'.repeat(300)

if (postgresBin() === undefined) {
  report({ title: TITLE, rows: [{ name: 'NOT RUN: there is no Postgres on this machine', value: '' }] })
  process.exit(0)
}

const directory = mkdtempSync(join(tmpdir(), 'loopguard-bench-'))
const server = await startPostgres()
await migrate({ url: server.url })
const quantile = (values, q) => values.toSorted((a, b) => a - b)[Math.floor(values.length * q)]
const ms = (ns) => `${(ns / 1e6).toFixed(1)} ms`

async function on(store, config, work) {
  const ctx = new Context()
  await ctx.plugin(store, config)
  const result = await work(ctx.sessions)
  await ctx.fiber.dispose()
  return result
}

/** Nanoseconds of each barrier of one session. */
async function barriers(sessions) {
  const session = sessions.create()
  await session.flush()
  const took = []
  for (let round = 0; round < BARRIERS; round++) {
    session.append('bench/note', WORDS)
    const startedAt = performance.now()
    await session.flush()
    took.push((performance.now() - startedAt) * 1e6)
  }
  return took
}

/** Events in a second of sessions that each append one and wait for its barrier, again and again. */
async function throughput(sessions, rounds) {
  const all = Array.from({ length: SESSIONS }, () => sessions.create())
  await Promise.all(all.map((session) => session.flush()))
  const startedAt = performance.now()
  await Promise.all(
    all.map(async (session) => {
      for (let round = 0; round < rounds; round++) {
        session.append('bench/note', WORDS)
        await session.flush()
      }
    }),
  )
  return (SESSIONS * rounds) / ((performance.now() - startedAt) / 1000)
}

const stores = { files: [SessionStore, { directory, durable: true }], postgres: [PostgresSessions, { url: server.url }] }
const alone = {}
const many = {}
for (const [name, [store, config]] of Object.entries(stores)) {
  alone[name] = await on(store, config, barriers)
  const rates = []
  for (let run = 0; run < RUNS[name]; run++) rates.push(await on(store, config, (sessions) => throughput(sessions, ROUNDS[name])))
  many[name] = quantile(rates, 0.5)
}
const perSecond = (rate) => `${Math.round(rate).toLocaleString('en')}/s`
report({
  title: TITLE,
  rows: [
    {
      name: 'one barrier, median, beside durable files',
      value: us(quantile(alone.postgres, 0.5)),
      beside: us(quantile(alone.files, 0.5)),
      ratio: times(quantile(alone.postgres, 0.5), quantile(alone.files, 0.5)),
    },
    { name: 'one barrier, 99 of 100', value: ms(quantile(alone.postgres, 0.99)), beside: ms(quantile(alone.files, 0.99)) },
    {
      name: `events in a second, ${SESSIONS.toLocaleString('en')} sessions, a barrier after each event`,
      value: perSecond(many.postgres),
      beside: perSecond(many.files),
      ratio: times(many.postgres, many.files),
    },
  ],
})
await server.stop()
rmSync(directory, { recursive: true, force: true })
process.exit(0)
