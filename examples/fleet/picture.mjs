// Draws how long open turns waited for their next worker: `node examples/fleet/picture.mjs out.svg kill=a.json kill=b.json stop=c.json`,
// of files that `fleet.mjs --json` has written. One line for each run.
import { readFileSync, writeFileSync } from 'node:fs'

const WIDTH = 760
const HEIGHT = 360
const LEFT = 60
const RIGHT = 20
const TOP = 46
const BOTTOM = 56
const SECONDS = 8
const KINDS = {
  kill: { name: 'killed (SIGKILL)', colour: '#1769aa' },
  stop: { name: 'stopped (SIGSTOP), lease 5 s', colour: '#b3541e' },
}

const [out, ...runs] = process.argv.slice(2)
const x = (ms) => LEFT + (Math.min(ms, SECONDS * 1000) / (SECONDS * 1000)) * (WIDTH - LEFT - RIGHT)
const y = (share) => TOP + (1 - share) * (HEIGHT - TOP - BOTTOM)
const round = (value) => value.toFixed(1)

const grid = []
for (let second = 0; second <= SECONDS; second++) {
  grid.push(`<line x1="${round(x(second * 1000))}" x2="${round(x(second * 1000))}" y1="${TOP}" y2="${HEIGHT - BOTTOM}" stroke="#ddd"/>`)
  grid.push(`<text x="${round(x(second * 1000))}" y="${HEIGHT - BOTTOM + 20}" text-anchor="middle">${second}</text>`)
}
for (const share of [0, 0.5, 1]) {
  grid.push(`<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${round(y(share))}" y2="${round(y(share))}" stroke="#ddd"/>`)
  grid.push(`<text x="${LEFT - 8}" y="${round(y(share) + 4)}" text-anchor="end">${share * 100} %</text>`)
}
const lines = runs.map((run) => {
  const [kind, file] = run.split('=')
  const times = JSON.parse(readFileSync(file, 'utf8')).takeovers[0]
  const steps = times.flatMap((ms, index) => [
    `${round(x(ms))},${round(y(index / times.length))}`,
    `${round(x(ms))},${round(y((index + 1) / times.length))}`,
  ])
  return `<polyline points="${LEFT},${round(y(0))} ${steps.join(' ')} ${WIDTH - RIGHT},${round(y(1))}" fill="none" stroke="${KINDS[kind].colour}" stroke-width="1.5"/>`
})
const keys = Object.values(KINDS).map(({ name, colour }, index) => {
  const left = LEFT + 10 + index * 220
  return `<line x1="${left}" x2="${left + 24}" y1="28" y2="28" stroke="${colour}" stroke-width="3"/><text x="${left + 30}" y="32">${name}</text>`
})
writeFileSync(
  out,
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="13" fill="#222" role="img" aria-label="Share of the open turns of a worker that another one has taken over, against the seconds since it was killed or stopped">
<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>
${grid.join('\n')}
${lines.join('\n')}
${keys.join('\n')}
<text x="${(WIDTH + LEFT) / 2}" y="${HEIGHT - 12}" text-anchor="middle">seconds since; share of the open turns that are another worker's; one line a run</text>
</svg>
`,
)
