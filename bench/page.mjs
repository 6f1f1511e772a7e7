// The figures of the last run of each suite, put into docs/performance.md between its two marks, and the plot beside it.
import { readFileSync, writeFileSync } from 'node:fs'
import { plot } from './plot.mjs'
import { tableOf } from './table.mjs'

const FIGURES = /<!-- figures -->[\s\S]*<!-- \/figures -->/
const docs = new URL('../docs/', import.meta.url)

/** @param {readonly string[]} suites names of suites that have run, in the order of the page */
export function writePage(suites) {
  const reports = suites.map((suite) => JSON.parse(readFileSync(new URL(`results/${suite}.json`, import.meta.url), 'utf8')))
  const { node, platform, processor, date } = reports[0].machine
  const tables = reports.map((report) => tableOf(report, '##'))
  const figures = [
    '<!-- figures -->',
    `Node ${node}, ${platform}, ${processor}, ${date}.`,
    '',
    tables.join('\n\n'),
    '<!-- /figures -->',
  ].join('\n')
  const page = new URL('performance.md', docs)
  writeFileSync(
    page,
    readFileSync(page, 'utf8').replace(FIGURES, () => figures),
  )
  writeFileSync(new URL('loop-time-per-step.svg', docs), plot(reports[suites.indexOf('loop')]))
}
