// Starts a Postgres, three workers and a thousand agents, sends each agent some messages, kills workers meanwhile, and then says what
// became of it. Nothing is left behind. `node examples/fleet/fleet.mjs --help` shows the options.
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { MUST_BE_ZERO } from './audit.mjs'
import { runFleet } from './run-fleet.mjs'

const HELP = `node --conditions=@loopguard/source --import tsx examples/fleet/fleet.mjs [--agents 1000] [--messages 6] [--kills 9]
  --built          run the workers from lib/, after \`npm run build\`: they start faster
  --stop <ms>      stop a worker for so long, in place of kills
  --outage <ms>    take the database away for so long, in place of kills
  --model <ms>     about how long the model takes for an answer, 50 by default
  --without <what> take a safeguard out: barriers, fencing or orphans
  --json <file>    write the figures there, too`

const text = (value) => ({ type: 'string', ...(value !== undefined && { default: value }) })
const { values } = parseArgs({
  options: {
    agents: text('1000'),
    messages: text('6'),
    kills: text('9'),
    every: text('1500'),
    model: text('50'),
    stop: text(),
    outage: text(),
    without: text(),
    json: text(),
    built: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) {
  console.log(HELP)
} else {
  const { stop, outage } = values
  const result = await runFleet({
    agents: Number(values.agents),
    messages: Number(values.messages),
    everyMs: Number(values.every),
    modelMs: Number(values.model),
    ...(stop === undefined && outage === undefined && { kills: Number(values.kills) }),
    ...(stop !== undefined && { stopMs: Number(stop) }),
    ...(outage !== undefined && { outageMs: Number(outage) }),
    ...(values.without !== undefined && { without: values.without }),
    built: values.built,
  })
  const { takeovers, codes, said, ...figures } = result
  console.log(figures)
  for (const times of takeovers) {
    if (times.length === 0) continue
    console.log(
      `takeover of ${times.length} open turns: first ${times[0]} ms, median ${times[times.length >> 1]} ms, last ${times.at(-1)} ms`,
    )
  }
  if (codes.some((code) => code !== 0)) console.log(`workers ended with ${codes.join(', ')}:\n${said.join('\n')}`)
  const broken = MUST_BE_ZERO.filter((key) => result[key] !== 0)
  console.log(broken.length === 0 ? 'nothing was lost, nothing happened twice' : `not as promised: ${broken.join(', ')}`)
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ ...figures, takeovers })}\n`)
  process.exitCode = broken.length === 0 ? 0 : 1
}
