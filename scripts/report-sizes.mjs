// Prints the table of docs/report.md: how large pages are, how long they take to make and to open, and how long a folder takes.
// node --conditions=@loopguard/source --import tsx scripts/report-sizes.mjs
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { long } from '../packages/boot/loopguard/tests/report/long.ts'
import { startChromium } from './chromium.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const command = join(root, 'packages/boot/loopguard/bin.js')
const folder = mkdtempSync(join(tmpdir(), 'loopguard-sizes-'))
const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`

/** The built command: what is measured is what is published. */
function report(...args) {
  const begun = performance.now()
  const { status, stderr } = spawnSync(process.execPath, [command, 'report', ...args], { cwd: folder, encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  return performance.now() - begun
}

const browser = await startChromium()
console.log('| calls | the log | the page | made in | opens in |\n| ---: | ---: | ---: | ---: | ---: |')
for (const [calls, turns] of [
  [20, 2],
  [1500, 15],
  [20_000, 200],
]) {
  const log = join(folder, `${calls}.jsonl`)
  writeFileSync(log, long(calls, turns).jsonl)
  const made = report(log)
  const file = join(folder, `${calls}.html`)
  const page = await browser.newPage()
  const begun = performance.now()
  await page.goto(pathToFileURL(file).href)
  // What it draws has been laid out.
  await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))')
  const opened = performance.now() - begun
  await page.close()
  const kib = (path) => `${Math.round(statSync(path).size / 1024).toLocaleString('en-US')} KiB`
  console.log(`| ${calls.toLocaleString('en-US')} | ${kib(log)} | ${kib(file)} | ${seconds(made)} | ${seconds(opened)} |`)
}
await browser.close()

const logs = join(folder, 'logs')
mkdirSync(logs)
for (let index = 0; index < 1000; index++) cpSync(join(root, 'examples/transcripts/fixer.jsonl'), join(logs, `${index}.jsonl`))
console.log(`1,000 sessions of 21 calls: ${seconds(report(logs))}`)
rmSync(folder, { recursive: true })
