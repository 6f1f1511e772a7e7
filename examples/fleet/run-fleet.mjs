// One experiment: a server, workers, agents, messages, and what goes wrong meanwhile.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { migrate } from '@loopguard/session-postgres'
import pg from 'pg'
import { startPostgres } from '../../scripts/postgres.mjs'
import { audit, logsIn, notesIn, takeoversAfter } from './audit.mjs'
import { sendAll } from './mail.mjs'
import { startWorker } from './workers.mjs'

const WORKERS = 3
const BUSY_WITHIN_MS = 20_000
/** By worker, the most first. A worker is called by its host and process. */
const OPEN_TURNS = `SELECT w.name FROM loopguard.worker w JOIN loopguard.session s ON s.holder = w.n
  WHERE s.busy GROUP BY w.n, w.name ORDER BY count(*) DESC`

/** The options are described in run-fleet.d.mts. Nothing is left behind. */
export async function runFleet(options) {
  const { agents, messages, everyMs = 1500, giveUpMs = 180_000, settings = [] } = options
  const folder = mkdtempSync(join(tmpdir(), 'lg-fleet-'))
  const server = await startPostgres({ settings })
  const fleet = new Fleet(server, folder, options)
  let client
  try {
    process.env.FLEET_URL = server.url
    await migrate({ urlEnv: 'FLEET_URL' })
    await fleet.start()
    const begun = performance.now()
    const sending = sendAll(server.url, agents, messages)
    await sleep(everyMs)
    await fleet.suffer()
    const sent = await sending
    client = new pg.Client(server.url)
    await client.connect()
    const waiting = await settled(client, giveUpMs)
    const seconds = (performance.now() - begun) / 1000
    const codes = await fleet.end()
    const logs = await logsIn(client)
    const found = audit({ sent, logs, notes: notesIn(folder), waiting })
    const { moments } = fleet
    const takeovers = moments.map((at, index) => takeoversAfter(logs, at, moments[index + 1]))
    return { ...found, seconds, eventsPerSecond: Math.round(found.events / seconds), takeovers, codes, said: fleet.said() }
  } finally {
    fleet.kill()
    await client?.end()
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

class Fleet {
  /** When something went wrong. */
  moments = []
  #server
  #folder
  #options
  #all = []
  #live = []

  constructor(server, folder, options) {
    this.#server = server
    this.#folder = folder
    this.#options = options
  }

  async start() {
    this.#live = Array.from({ length: WORKERS }, () => this.#worker())
    await Promise.all(this.#live.map(({ ready }) => ready))
  }

  async suffer() {
    const { kills = 0, everyMs = 1500, stopMs, outageMs } = this.#options
    for (let kill = 0; kill < kills; kill++) {
      const at = this.#live.indexOf(await this.#busiest())
      this.moments.push(Date.now())
      this.#live[at].kill('SIGKILL')
      this.#live[at] = this.#worker()
      await sleep(everyMs)
    }
    if (stopMs !== undefined) {
      const worker = await this.#busiest()
      this.moments.push(Date.now())
      worker.kill('SIGSTOP')
      await sleep(stopMs)
      worker.kill('SIGCONT')
    }
    if (outageMs !== undefined) {
      await this.#server.halt()
      await sleep(outageMs)
      await this.#server.start()
    }
  }

  /** @returns the exit codes of those that were not killed. */
  end() {
    return Promise.all(this.#live.map((worker) => worker.end()))
  }

  kill() {
    for (const worker of this.#all) worker.kill('SIGKILL')
  }

  said() {
    return this.#all.map((worker) => worker.said())
  }

  /** The one that holds the most open turns, waiting for one that holds any: whom nothing is taken from shows nothing. */
  async #busiest() {
    const client = new pg.Client(this.#server.url)
    await client.connect()
    try {
      for (const until = performance.now() + BUSY_WITHIN_MS; ; await sleep(20)) {
        const { rows } = await client.query(OPEN_TURNS)
        for (const { name } of rows) {
          const worker = this.#live.find(({ pid }) => name.endsWith(`:${pid}`))
          if (worker !== undefined) return worker
        }
        if (performance.now() > until) throw new Error(`no worker has had an open turn within ${BUSY_WITHIN_MS} ms`)
      }
    } finally {
      await client.end()
    }
  }

  #worker() {
    const { without, built = false, modelMs = 50, leaseMs = 5000 } = this.#options
    const env = {
      FLEET_MODEL_MS: String(modelMs),
      FLEET_LEASE_MS: String(leaseMs),
      ...(without !== undefined && { FLEET_WITHOUT: without }),
    }
    const composition = fileURLToPath(new URL(without === undefined ? 'cordis.yml' : 'without.yml', import.meta.url))
    const number = this.#all.length
    const worker = startWorker({ composition, url: this.#server.url, folder: this.#folder, number, built, env })
    this.#all.push(worker)
    return worker
  }
}

/** Waits until nothing waits and nothing runs. @returns the mail that was left when it gave up. */
async function settled(client, giveUpMs) {
  const question = `SELECT (SELECT count(*) FROM loopguard.mail)::int AS mail,
    (SELECT count(*) FROM loopguard.session WHERE holder IS NOT NULL OR busy)::int AS open`
  const until = performance.now() + giveUpMs
  for (;;) {
    const { rows } = await client.query(question)
    const [{ mail, open }] = rows
    if ((mail === 0 && open === 0) || performance.now() > until) return mail
    await sleep(200)
  }
}
