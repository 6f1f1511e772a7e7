import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'

/** Runs a composition with the real command, in a process of its own, without a key and without a network; gives back what it printed. */
async function run(composition: string): Promise<string> {
  const { resolve } = createRequire(import.meta.url)
  const command = dirname(resolve('loopguard/package.json'))
  const sources = ['--conditions=@loopguard/source', '--import', pathToFileURL(resolve('tsx')).href, join(command, 'src/bin.ts')]
  const start = process.env['LOOPGUARD_TEST_MODE'] === 'lib' ? [join(command, 'lib/bin.js')] : sources
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [...start, 'run', composition], { cwd: dirname(composition) })
  expect(stdout + stderr).not.toContain('invariant')
  return stdout
}

interface Event {
  readonly type: string
  readonly data: { readonly source?: { readonly plugin?: string } }
}

const TOLD = ['todo/write', 'tool/result', 'user/message', 'step/end']

/** The lists of the log and what the model reads, without what differs from run to run: times, and the ids of messages. */
function told(log: string): Event[] {
  return log
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line.replaceAll(/"[0-9a-f-]{36}"/g, '"…"').replaceAll(/,"durationMs":\d+/g, '')) as Event)
    .filter(({ type }) => TOLD.includes(type))
    .map(({ type, data }) => ({ type, data }))
}

it('five equal calls of todo_write are reminded at 3, gently, and at 5, in detail: the log to the letter', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'todo-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await cp(new URL('scenario/', import.meta.url), folder, { recursive: true })
  const shown = await run(join(folder, 'cordis.yml'))
  expect(shown).toContain('summary: 5 calls, 2 reminders, ')
  const events = told(await readFile(join(folder, 'sessions/planner.jsonl'), 'utf8'))
  await expect(`${events.map((event) => JSON.stringify(event)).join('\n')}\n`).toMatchFileSnapshot('scenario.golden.jsonl')
  const order = events.flatMap(({ type, data }) =>
    type === 'todo/write' ? ['list'] : data.source?.plugin === undefined ? [] : ['reminder'],
  )
  expect(order).toEqual(['list', 'list', 'list', 'reminder', 'list', 'list', 'reminder'])
}, 120_000)

it('examples/todo-list: the excluded todo_write between equal searches does not hide that they are equal', async () => {
  const shown = await run(fileURLToPath(new URL('../../../../examples/todo-list/cordis.yml', import.meta.url)))
  const marks = shown.split('\n').flatMap((line) => /^(call: \w+|REMINDER after \w+)/.exec(line)?.[0] ?? [])
  const round = ['call: todo_write', 'call: search']
  expect(marks).toEqual([...round, ...round, ...round, 'REMINDER after search', 'call: todo_write'])
}, 120_000)
