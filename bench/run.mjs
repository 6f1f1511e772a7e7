// All figures, in one run: `npm run bench`, or `npm run bench -- identity loop` for some of them. `--full` takes the published
// harness through ten thousand steps as well, which takes minutes; `--write` puts the figures into docs/performance.md, those of suites
// that do not run now from their last run. Each suite runs in a process of its own, with a collector that can be called.
// `npm run bench -- soak` is a program of its own, which compares nothing.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'
import { writePage } from './page.mjs'
import { inTurn } from './progress.mjs'
import { tableOf } from './table.mjs'

const SUITES = [
  'pipeline',
  'budget',
  'loop',
  'deadlines',
  'identity',
  'patterns',
  'start',
  'agents',
  'invariants',
  'fairness',
  'durable',
  'postgres',
  'adapters',
  'model',
  'profile',
]
/** They take the words behind their name. */
const PROGRAMS = ['soak']
const FLAGS = ['--full', '--write']
const words = process.argv.slice(2)
if (PROGRAMS.includes(words[0])) {
  const program = fileURLToPath(new URL(`${words[0]}.mjs`, import.meta.url))
  process.exit(spawnSync(process.execPath, [program, ...words.slice(1)], { stdio: 'inherit' }).status ?? 1)
}
const full = words.includes('--full')
const wanted = words.filter((word) => !word.startsWith('--'))
for (const word of words) {
  if (SUITES.includes(word) || FLAGS.includes(word)) continue
  console.error(
    `bench: there is no "${word}", only the suites ${SUITES.join(', ')}, the programs ${PROGRAMS.join(', ')} and the flags ${FLAGS.join(', ')}`,
  )
  process.exit(2)
}

const here = fileURLToPath(new URL('.', import.meta.url))
const results = `${here}results/`
mkdirSync(results, { recursive: true })
const machine = {
  node: process.version,
  platform: `${process.platform} ${process.arch}`,
  processor: `${cpus().length} × ${cpus()[0]?.model.replace(/\s+/g, ' ').trim() ?? 'unknown'}`,
  date: new Date().toISOString().slice(0, 10),
}
console.log(`${machine.node}, ${machine.platform}, ${machine.processor}`)

/** Some suites take a source of ours as it is, which Node before 22.18 does with a flag only. */
const FLAGS_OF_NODE = ['--expose-gc', ...(process.features.typescript ? [] : ['--experimental-strip-types', '--no-warnings'])]

let failed = false
const suites = wanted.length > 0 ? wanted : SUITES
function run(suite) {
  const file = `${results}${suite}.json`
  const { status } = spawnSync(process.execPath, [...FLAGS_OF_NODE, `${here}suites/${suite}.mjs`, file, ...(full ? ['--full'] : [])], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  if (status !== 0) {
    console.error(`bench: suite ${suite} failed`)
    failed = true
    return
  }
  const report = { ...JSON.parse(readFileSync(file, 'utf8')), machine }
  writeFileSync(file, `${JSON.stringify(report, undefined, 2)}\n`)
  console.log(`\n${tableOf(report)}`)
}
inTurn(suites, run, (line) => console.error(line))
if (words.includes('--write') && !failed) writePage(SUITES)
process.exit(failed ? 1 : 0)
