import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { MODEL, STORED, TOOLS, call, chat, enter, go, isLive, leave, place } from './chat-stage.ts'
import { folder, run } from './cli.ts'
import { Terminal } from './pty.ts'

describe('leaving', () => {
  it('Ctrl-C cancels the turn, and twice leaves with 0', async () => {
    const terminal = await chat(place(call('slow')))
    await enter(terminal, 'go')
    await terminal.until('slow {}')
    terminal.type('\u0003')
    await terminal.until((lines) => lines.includes('cancelling; Ctrl-C again leaves') && lines.includes('turn ended: aborted (user)'))
    terminal.type('\u0003\u0003')
    expect(await terminal.end()).toBe(0)
  })

  it('twice leaves while a call is deaf, too, which is named', async () => {
    const terminal = await chat(place(call('deaf')), { columns: 200 })
    await enter(terminal, 'go')
    await terminal.until('deaf {}')
    terminal.type('\u0003\u0003')
    expect(await terminal.end()).toBe(0)
    expect(
      terminal.lines.some((line) => line.startsWith('waiting for agent "chat", turn 1, step 1: the call "call_1" of the tool "deaf"')),
    ).toBe(true)
  })

  it('Ctrl-D on an empty line leaves', async () => {
    const terminal = await chat(place('- text: ok\n'))
    terminal.type('\u0004')
    expect(await terminal.end()).toBe(0)
  })

  it('a signal leaves with its code, and the turn has an end in the log', async () => {
    const cwd = place(call('slow'), STORED + MODEL)
    const terminal = await chat(cwd)
    await enter(terminal, 'go')
    await terminal.until('slow {}')
    terminal.kill('SIGTERM')
    expect(await terminal.end()).toBe(143)
    expect(terminal.lines.filter(isLive)).toEqual([])
    expect(readFileSync(join(cwd, 'logs/chat.jsonl'), 'utf8')).toContain('"kind":"aborted"')
  })
})

describe('a terminal that', () => {
  it('reads nothing for ten seconds holds up no turn, and shows all of it afterwards', async () => {
    const long = Array.from({ length: 4000 }, (_, index) => `line ${index} of what the model says at great length`).join('\n')
    const cwd = place(
      `${call('slow')}- text: ${JSON.stringify(long)}\n  calls: [{ name: look, arguments: {} }]\n- text: the end\n`,
      STORED + MODEL,
    )
    const terminal = await chat(cwd)
    await enter(terminal, 'go')
    await terminal.until('slow {}')
    terminal.pause()
    const pausedAtMs = performance.now()
    go(cwd)
    const log = (): string => readFileSync(join(cwd, 'logs/chat.jsonl'), 'utf8')
    await expect.poll(log, { timeout: 30_000 }).toContain('"turn/end"')
    expect(log()).toContain('"completed"')
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, pausedAtMs + 10_000 - performance.now())))
    terminal.type('typed meanwhile')
    terminal.resume()
    await terminal.until((lines) => lines.includes('the end') && lines.at(-1) === '> typed meanwhile')
    const said = terminal.lines.filter((line) => /^line \d/.test(line))
    expect(said).toEqual(long.split('\n'))
    terminal.type('\u0015')
    await leave(terminal)
  })

  it('goes away ends the turn, and leaves the log whole', async () => {
    const cwd = place(call('slow'), STORED + MODEL)
    const terminal = await chat(cwd)
    await enter(terminal, 'go')
    await terminal.until('slow {}')
    terminal.hangUp()
    const log = (): string => readFileSync(join(cwd, 'logs/chat.jsonl'), 'utf8')
    await expect.poll(log, { timeout: 30_000 }).toContain('"turn/end"')
    // It may hear of it twice, and leave at once then: its lock goes with the process.
    await expect.poll(() => terminal.isRunning, { timeout: 30_000 }).toBe(false)
    expect(log()).toContain('"kind":"aborted"')
  })
})

describe('the session', () => {
  it('can be gone on with, by the name of the agent and with --resume', async () => {
    const cwd = place('- { text: ok, repeat: 10 }\n', STORED + MODEL)
    const first = await chat(cwd)
    await enter(first, 'one')
    await first.until('ok')
    await leave(first)
    const second = new Terminal(['chat', '--resume', 'chat'], { cwd })
    await second.until('It goes on after one turn.')
    await enter(second, 'two')
    await second.until('ok')
    await leave(second)
    expect(readFileSync(join(cwd, 'logs/chat.jsonl'), 'utf8').match(/"turn\/end"/g)).toHaveLength(2)
  })
})

describe('without what it needs it says what to add', () => {
  const said = async (cwd: string, ...args: string[]): Promise<{ code: number; text: string }> => {
    const terminal = new Terminal(['chat', ...args], { cwd, columns: 200 })
    return { code: await terminal.end(), text: terminal.lines.join('\n') }
  }
  const LOOP = "- { name: '@loopguard/agent-loop', config: { agents: [{ id: a, provider: deepseek, model: m }] } }\n"
  const HOSTED = ['llm', 'session', 'tools'].map((name) => `- name: '@loopguard/${name}'\n`).join('')

  it.each([
    ['there is no file', {}, [], /^loopguard: there is no .*cordis\.yml\. A model is a row of cordis\.yml/],
    ['no row is a model', { 'cordis.yml': HOSTED }, [], /^loopguard: no row of the composition is a model\. A model is a row/],
    [
      'nothing serves the provider',
      { 'cordis.yml': HOSTED + LOOP },
      [],
      /^loopguard: no row serves the provider "deepseek" of the agent "a" \(served: none\)\. A model is/,
    ],
    ['there is no such agent', { 'cordis.yml': HOSTED + LOOP }, ['--agent', 'b'], /^loopguard: there is no agent "b" \(there is: "a"\)/],
    [
      'there is no such session',
      { 'cordis.yml': MODEL, 'script.yml': '[]', 'tools.mjs': TOOLS },
      ['--resume', 'x'],
      /^loopguard: there is no session "x"; `loopguard sessions` lists/,
    ],
  ])('%s', async (_, files, args, expected) => {
    const { code, text } = await said(folder(files), ...args)
    expect(text).toMatch(expected)
    expect(code).toBe(1)
  })

  it('a terminal', async () => {
    const { code, err } = await run(['chat'], { cwd: place('[]') })
    expect(code).toBe(2)
    expect(err).toContain('error: a conversation needs a terminal; loopguard run --prompt "text" needs none')
  })
})
