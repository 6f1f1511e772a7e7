// How long one waits: for the built command, until the first step of a scripted agent begins, and for the import of a guard. Each run is a
// process of its own; the things that are compared are run in turn.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { report } from '../measure.mjs'

const RUNS = 15
const root = fileURLToPath(new URL('../..', import.meta.url))
const packages = new URL('../../packages/', import.meta.url)

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1]
const ms = (value) => `${value.toFixed(value < 10 ? 1 : 0)} ms`

/** What a fresh process says of itself: `{ wall, cpu }` in milliseconds. */
function spoken({ args, cwd = root }) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd, encoding: 'utf8' })
  const [, said] = /^(?:first step: )?(\{"wall".*\})$/m.exec(`${stdout}\n${stderr}`) ?? []
  if (status !== 0 || said === undefined) throw new Error(`${args.join(' ')} ended with ${status}: ${stderr}`)
  return JSON.parse(said)
}

const SAY =
  'const { user, system } = process.cpuUsage(); console.log(JSON.stringify({ wall: performance.now(), cpu: (user + system) / 1000 }))'
const module = (text) => ['--input-type=module', '-e', text]

const GUARDS = {
  'timeout-policy': 'guard/timeout-policy',
  'repeat-tool-reminder': 'guard/repeat-tool-reminder',
  'repeated-failure-reminder': 'guard/repeated-failure-reminder',
  timeout: 'util/timeout',
}
const PEERS = ['@deepseek-ai/cordis', '@deepseek-ai/schemastery']

/** The time of an import alone, after others, which resolve from the folder of a guard. */
function importing(file, before) {
  const lines = before.map((name) => `await import('${name}')`)
  const text =
    `${lines.join(';')};const from = performance.now(); await import(${JSON.stringify(new URL(file, packages).href)});` +
    'console.log(JSON.stringify({ wall: performance.now() - from, cpu: 0 }))'
  return { args: module(text), cwd: fileURLToPath(new URL('guard/repeat-tool-reminder', packages)) }
}

const commands = {
  'Node itself': { args: module(SAY) },
  'loopguard run, until the first step': {
    args: [fileURLToPath(new URL('boot/loopguard/bin.js', packages)), 'run', 'bench/hosts/start/cordis.yml'],
  },
}
for (const [name, path] of Object.entries(GUARDS)) {
  commands[`import of ${name}`] = importing(`${path}/lib/index.js`, PEERS)
  commands[`import of ${name}, before anything else`] = importing(`${path}/lib/index.js`, [])
}

const seen = Object.fromEntries(Object.keys(commands).map((name) => [name, []]))
for (let run = 0; run < RUNS; run++) for (const [name, command] of Object.entries(commands)) seen[name].push(spoken(command))

const rows = Object.entries(seen).map(([name, runs]) => {
  const wall = runs.map((each) => each.wall)
  const cpu = median(runs.map((each) => each.cpu))
  return {
    name,
    value: `${ms(median(wall))} (${ms(Math.min(...wall))} at best)`,
    ...(cpu > 0 && { beside: `${ms(cpu)} of processor time` }),
  }
})
report({ title: `To begin, median of ${RUNS} processes`, rows })
