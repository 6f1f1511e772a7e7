// Starts a Postgres, three workers and a thousand agents, sends each agent some messages, kills workers meanwhile, and then says what
// became of it. Nothing is left behind. `node examples/fleet/fleet.mjs --help` shows the options.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { migrate } from '@loopguard/session-postgres'
import pg from 'pg'
import { startPostgres } from '../../scripts/postgres.mjs'
import { audit, logsIn, MUST_BE_ZERO, notesIn, takeoversAfter } from './audit.mjs'
import { sendAll } from './mail.mjs'
import { startWorker } from './workers.mjs'

const WORKERS = 3
const composition = (without) => fileURLToPath(new URL(without === undefined ? 'cordis.yml' : 'without.yml', import.meta.url))

/**
 * @param options - `kills`: how many workers are killed, one after the other, each replaced; `stopMs`: how long one worker is stopped
 * instead; `outageMs`: how long the database is away instead; `without`: a safeguard that is taken out.
 */
export async function runFleet({
  agents,
  messages,
  kills = 0,
  everyMs = 1500,
  stopMs,
  outageMs,
  without,
  built = false,
  giveUpMs = 180_000,
  settings,
  say = () => {},
}) {
  const folder = mkdtempSync(join(tmpdir(), 'lg-fleet-'))
  const server = await startPostgres(settings === undefined ? {} : { settings })
  const workers = []
  let client
  try {
    process.env.FLEET_URL = server.url
    await migrate({ urlEnv: 'FLEET_URL' })
    const env = without === undefined ? {} : { FLEET_WITHOUT: without }
    const start = () => {
      const worker = startWorker({ composition: composition(without), url: server.url, folder, number: workers.length, built, env })
      workers.push(worker)
      return worker
    }
    const live = Array.from({ length: WORKERS }, start)
    await Promise.all(live.map(({ ready }) => ready))
    say(`${WORKERS} workers are ready`)
    const begun = performance.now()
    const sending = sendAll(server.url, agents, messages)
    const moments = []
    await sleep(everyMs)
    for (let kill = 0; kill < kills; kill++) {
      const at = kill % WORKERS
      moments.push(Date.now())
      live[at].kill('SIGKILL')
      live[at] = start()
      say(`killed worker ${kill + 1} of ${kills}`)
      await sleep(everyMs)
    }
    if (stopMs !== undefined) {
      moments.push(Date.now())
      live[0].kill('SIGSTOP')
      await sleep(stopMs)
      live[0].kill('SIGCONT')
      say(`a worker was stopped for ${stopMs} ms`)
    }
    if (outageMs !== undefined) {
      await server.halt()
      await sleep(outageMs)
      await server.start()
      say(`the database was away for ${outageMs} ms`)
    }
    const sent = await sending
    client = new pg.Client(server.url)
    await client.connect()
    const left = await settled(client, giveUpMs)
    const seconds = (performance.now() - begun) / 1000
    const codes = await Promise.all(live.map(async (worker) => worker.end()))
    const logs = await logsIn(client)
    const notes = notesIn(folder)
    const found = audit({ sent, logs, notes, waiting: left })
    const takeovers = moments.map((at, index) => takeoversAfter(logs, at, moments[index + 1]))
    return {
      ...found,
      seconds,
      eventsPerSecond: Math.round(found.events / seconds),
      takeovers,
      codes,
      logs,
      notes,
      moments,
      said: workers.map(({ said }) => said()),
    }
  } finally {
    for (const worker of workers) worker.kill('SIGKILL')
    await client?.end()
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
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

async function main() {
  const { values } = parseArgs({
    options: {
      agents: { type: 'string', default: '1000' },
      messages: { type: 'string', default: '6' },
      kills: { type: 'string', default: '9' },
      stop: { type: 'string' },
      outage: { type: 'string' },
      without: { type: 'string' },
      built: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    console.log('node examples/fleet/fleet.mjs [--agents 1000] [--messages 6] [--kills 9] [--built]')
    console.log('  --built          run the workers from lib/, after `npm run build`')
    console.log('  --stop <ms>      stop a worker for so long, in place of kills')
    console.log('  --outage <ms>    take the database away for so long, in place of kills')
    console.log('  --without <what> take a safeguard out: barriers, fencing or orphans')
    return
  }
  const number = (text) => (text === undefined ? undefined : Number(text))
  const isKilling = values.stop === undefined && values.outage === undefined
  const result = await runFleet({
    agents: Number(values.agents),
    messages: Number(values.messages),
    kills: isKilling ? Number(values.kills) : 0,
    stopMs: number(values.stop),
    outageMs: number(values.outage),
    without: values.without,
    built: values.built,
    say: (line) => console.log(line),
  })
  const { logs: _logs, notes: _notes, said: _said, takeovers, moments: _moments, codes: _codes, ...figures } = result
  console.log(figures)
  for (const times of takeovers) {
    if (times.length > 0)
      console.log(
        `takeover: ${times.length} open turns, first ${times[0]} ms, median ${times[times.length >> 1]} ms, last ${times.at(-1)} ms`,
      )
  }
  const broken = MUST_BE_ZERO.filter((key) => result[key] !== 0)
  console.log(broken.length === 0 ? 'nothing was lost, nothing happened twice' : `not as promised: ${broken.join(', ')}`)
  process.exitCode = broken.length === 0 ? 0 : 1
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main()
