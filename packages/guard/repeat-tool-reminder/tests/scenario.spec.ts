import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'

const GENTLE =
  'You are repeating the exact same tool call with identical arguments. Carefully analyze the previous result before calling again: if the task is not complete, try a different approach or different arguments instead of repeating the call.'

const DETAILED = `Loop warning: one and the same tool call, again and again.
- tool: todo_write
- consecutive_calls: 5
- arguments: {"list":"main","todos":[{"done":false,"text":"write it"},{"done":false,"text":"test it"}]}
These calls make no progress. Do not make this call with these arguments again: take a different action, or call with different arguments. If you have gathered enough evidence, finish the task.`

let folder: string
let shown: string

// Five equal `todo_write` calls, from a `cordis.yml` to the log: a real process, no key and no network.
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'repeat-tool-reminder-'))
  await cp(new URL('scenario/', import.meta.url), folder, { recursive: true })
  const { resolve } = createRequire(import.meta.url)
  const command = dirname(resolve('loopguard/package.json'))
  const sources = ['--conditions=@loopguard/source', '--import', pathToFileURL(resolve('tsx')).href, join(command, 'src/bin.ts')]
  const start = process.env['LOOPGUARD_TEST_MODE'] === 'lib' ? [join(command, 'lib/bin.js')] : sources
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [...start, 'run', 'cordis.yml'], { cwd: folder })
  shown = stdout + stderr
}, 120_000)
afterAll(() => rm(folder, { recursive: true, force: true }))

it('the agent reads the gentle reminder after the third call, the detailed one after the fifth, and no other', () => {
  const parts = shown.split(/^(?=REMINDER|call: )/m).map((part) => part.trimEnd())
  expect(parts.map((part) => part.slice(0, part.indexOf(' ')))).toEqual([
    '==',
    'call:',
    'call:',
    'call:',
    'REMINDER',
    'call:',
    'call:',
    'REMINDER',
  ])
  expect(parts[4]).toContain(`: ${GENTLE}\n`)
  expect(parts[7]).toContain(`:\n${DETAILED}\n`)
  expect(shown).toContain('summary: 5 calls, 2 reminders, 0 timeouts')
  expect(shown).not.toContain('invariant')
})

it('the log holds what the model read: each reminder whole, after the result of its step', async () => {
  const lines = (await readFile(join(folder, 'sessions/planner.jsonl'), 'utf8')).trimEnd().split('\n')
  const events = lines.map(
    (line) => JSON.parse(line) as { type: string; data: { source?: { kind: string }; content?: { text: string }[] } },
  )
  const told = events.filter(({ type }) => /^(tool\/result|user\/message|step\/end)$/.test(type))
  const steps = told
    .map(({ type }) => type.slice(type.indexOf('/') + 1))
    .join(' ')
    .split(/(?<=end) /)
  expect(steps).toEqual(['message result end', 'result end', 'result message end', 'result end', 'result message end', 'end'])
  const reminders = told.filter(({ type, data }) => type === 'user/message' && data.source?.kind === 'plugin')
  expect(reminders.map(({ data }) => data)).toEqual(
    [GENTLE, DETAILED].map((text) => ({
      id: expect.any(String) as string,
      role: 'user',
      content: [{ type: 'text', text }],
      source: { kind: 'plugin', plugin: 'repeat-tool-reminder' },
    })),
  )
})

it('nothing was written into the composition', async () => {
  const path = fileURLToPath(new URL('scenario/cordis.yml', import.meta.url))
  expect(await readFile(join(folder, 'cordis.yml'), 'utf8')).toBe(await readFile(path, 'utf8'))
})
