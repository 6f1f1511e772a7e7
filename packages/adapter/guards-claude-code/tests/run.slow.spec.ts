import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { homedir } from 'node:os'
import { expect, it } from 'vitest'
import { run } from '../src/run.ts'
import { defaultFolder } from '../src/state.ts'
import { batch, emptyFolder, end, look, prompt } from './support/events.ts'

const filesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

function start(folder = emptyFolder()) {
  const send = (event: unknown, ...args: string[]): string => run(['--state', folder, ...args], JSON.stringify(event), {})
  return { folder, send, files: () => filesOf(folder) }
}

it('keeps one file for each agent of a session, which only its owner reads, and in which no argument is', () => {
  const { send, files } = start()
  send(batch())
  send(batch())
  send(batch([look], { agent_id: '../../../sub' }))
  expect(files()).toHaveLength(2)
  for (const file of files()) {
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(statSync(join(file, '..')).mode & 0o777).toBe(0o700)
    expect(readFileSync(file, 'utf8')).toMatch(/^\{"chain":\{"identity":"[\da-f]{64}","length":[12]\}\}$/)
  }
})

it('leaves no file when the session has ended, and none for what it does not count', () => {
  const { send, files } = start()
  send(batch([look], { agent_id: 'sub' }))
  send(batch())
  send(prompt())
  expect(files()).toHaveLength(1)
  send(end())
  expect(files()).toEqual([])
  send(batch(), '--config', '{"exclude":["*"]}')
  expect(files()).toEqual([])
})

it.each(['', '{', '[]', 'null', '{"chain":null}', '{"chain":{"identity":"x","length":2}}', '{"chain":{"identity":"a","length":-1}}'])(
  'takes a state file that holds %j for none: the run begins anew and is kept again',
  (text) => {
    const { send, files } = start()
    send(batch())
    send(batch())
    const [file = ''] = files()
    writeFileSync(file, text)
    expect([send(batch()), send(batch())]).toEqual(['', ''])
    expect(send(batch())).toContain('You are repeating')
    expect(files()).toEqual([file])
  },
)

it('says so when it cannot keep its count', () => {
  const folder = emptyFolder()
  writeFileSync(join(folder, 'taken'), '')
  expect(() => start(join(folder, 'taken')).send(batch())).toThrow(/ENOTDIR|EEXIST/)
})

it('leaves the old state as it is when the new one cannot be written', () => {
  const { send, files } = start()
  send(batch())
  const [file = ''] = files()
  const before = readFileSync(file, 'utf8')
  mkdirSync(`${file}.${process.pid}`)
  expect(() => send(batch())).toThrow('EISDIR')
  expect(readFileSync(file, 'utf8')).toBe(before)
})

it('refuses an event at which it does not count, and says which ones it needs', () => {
  const { send } = start()
  for (const event of [{ ...batch(), hook_event_name: 'PostToolUse' }, { hook_event_name: 'PostToolBatch' }, null, 'x']) {
    expect(() => send(event)).toThrow(/PostToolBatch, UserPromptSubmit, SessionEnd/)
  }
})

it('refuses options that it does not know, and a configuration that is no JSON', () => {
  const { send } = start()
  expect(() => send(batch(), '--conf', '{}')).toThrow(/--conf/)
  expect(() => send(batch(), '--config', '{thresholds')).toThrow('--config must be JSON, got "{thresholds"')
})

it('keeps its state where the user keeps such things, and never in a folder for temporary files', () => {
  const own = join(homedir(), '.local', 'state', 'loopguard-claude-code')
  expect(defaultFolder({})).toBe(own)
  expect(defaultFolder({ XDG_STATE_HOME: 'relative' })).toBe(own)
  expect(defaultFolder({ XDG_STATE_HOME: '/state' })).toBe(join('/state', 'loopguard-claude-code'))
  const state = emptyFolder()
  run([], JSON.stringify(batch()), { XDG_STATE_HOME: state })
  expect(filesOf(join(state, 'loopguard-claude-code'))).toHaveLength(1)
})
