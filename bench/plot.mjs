// Time per step against steps, both loops, as an SVG made from the JSON of the loop suite. Logarithmic in time.
const WIDTH = 760
const HEIGHT = 420
const LEFT = 80
const RIGHT = 20
const TOP = 46
const BOTTOM = 56

/** @param {{ bucket: number, series: Record<string, { ours: number[], published?: number[] }>, machine: { node: string } }} report */
export function plot({ bucket, series, machine }) {
  const longest = (key) =>
    Object.values(series)
      .map((sizes) => sizes[key])
      .filter(Boolean)
      .toSorted((a, b) => b.length - a.length)[0] ?? []
  const lines = [
    { name: 'Loopguard', colour: '#1769aa', values: longest('ours') },
    { name: 'published harness', colour: '#b3541e', values: longest('published') },
  ].filter(({ values }) => values.length > 0)
  const all = lines.flatMap(({ values }) => values).map((ns) => ns / 1e6)
  const low = 10 ** Math.floor(Math.log10(Math.min(...all)))
  const high = 10 ** Math.ceil(Math.log10(Math.max(...all)))
  const steps = Math.max(...lines.map(({ values }) => values.length)) * bucket
  const x = (step) => LEFT + (step / steps) * (WIDTH - LEFT - RIGHT)
  const y = (ms) => TOP + (1 - (Math.log10(ms) - Math.log10(low)) / (Math.log10(high) - Math.log10(low))) * (HEIGHT - TOP - BOTTOM)
  const round = (value) => value.toFixed(1)

  const grid = []
  for (let ms = low; ms <= high * 1.001; ms *= 10) {
    grid.push(`<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${round(y(ms))}" y2="${round(y(ms))}" stroke="#ccc"/>`)
    grid.push(`<text x="${LEFT - 8}" y="${round(y(ms) + 4)}" text-anchor="end">${Number(ms.toPrecision(1))} ms</text>`)
  }
  for (let tick = 0; tick <= 5; tick++) {
    const step = (steps / 5) * tick
    grid.push(
      `<text x="${round(x(step))}" y="${HEIGHT - BOTTOM + 20}" text-anchor="middle">${Math.round(step).toLocaleString('en')}</text>`,
    )
  }
  const drawn = lines.map(({ name, colour, values }, index) => {
    const points = values.map((ns, at) => `${round(x((at + 0.5) * bucket))},${round(y(ns / 1e6))}`).join(' ')
    const key = LEFT + 10 + index * 190
    return `<polyline points="${points}" fill="none" stroke="${colour}" stroke-width="2"/>
<line x1="${key}" x2="${key + 24}" y1="30" y2="30" stroke="${colour}" stroke-width="3"/><text x="${key + 30}" y="34">${name}</text>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="13" fill="#222" role="img" aria-label="Time per step against the number of steps in one turn">
<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>
${grid.join('\n')}
${drawn.join('\n')}
<text x="${(WIDTH + LEFT) / 2}" y="${HEIGHT - 12}" text-anchor="middle">steps in one turn (${machine.node}, mean of ${bucket} steps each)</text>
</svg>
`
}
