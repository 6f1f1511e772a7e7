import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { AGENT, folder, HOST, printed, start as pipe } from './cli.ts'
import { Terminal, type TerminalOptions } from './pty.ts'

const ARGUMENTS = JSON.stringify({ path: 'src/a/rather/deep/folder/of/sources/index.ts', recursive: true })
const SCRIPT = `
- calls: [{ name: quick, arguments: {} }]
  usage: { inputTokens: 12000, outputTokens: 300 }
- calls: [{ name: slow, arguments: ${ARGUMENTS} }]
- text: done
`
/** A tool that answers at once, and one that waits for a file, with a timer of its own; `body` is what it does first. */
const tools = (body: string): string => `
  import { existsSync } from 'node:fs'
  export const inject = ['tools']
  export function apply(ctx) {
    ctx.tools.register({ name: 'quick', description: '', parameters: {}, execute: () => 'ok' })
    ctx.tools.register({ name: 'slow', description: '', parameters: {}, execute: (_args, { signal }) => new Promise((resolve, reject) => {
      const timer = setInterval(() => { if (existsSync('go')) { clearInterval(timer); resolve('slept') } }, 20)
      signal.addEventListener('abort', () => { clearInterval(timer); reject(signal.reason) })
      ${body}
    }) })
  }`

interface Place {
  readonly body?: string
  readonly script?: string
  readonly name?: string
}

const place = ({ body = '', script = SCRIPT, name }: Place = {}): string =>
  folder({ 'cordis.yml': `${HOST}- { id: tool, name: ./tool.mjs }\n${AGENT}`, 'script.yml': script, 'tool.mjs': tools(body) }, name)

const start = (cwd: string, options: TerminalOptions = {}, args: readonly string[] = []): Terminal =>
  new Terminal(['run', ...args], { cwd, ...options })

const go = (cwd: string): void => writeFileSync(join(cwd, 'go'), '')
const isLive = (line: string): boolean => /^[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/.test(line)
const waits = (lines: readonly string[]): boolean => lines.some((line) => /^. slow \{/.test(line))

const TRANSCRIPT = [
  '== worker, turn 1',
  '-- step 1',
  '  user      go',
  '  asks      scripted/m, tools quick, slow',
  '  call      quick {} [call_1]',
  '  result [call_1]',
  '    ok',
  '-- step 2',
  '  call      slow {"path":"src/a/rather/deep/folder/of/sources/index.ts","recursi',
  '            ve":true} [call_2]',
]
const END = [
  '  result [call_2]',
  '    slept',
  '-- step 3',
  '  model     done',
  '== turn 1 ended: completed',
  'summary: 2 calls, 0 reminders, 0 timeouts, 1 agent, 1 turn, 3 steps, 12000 input',
  '+ 300 output tokens (2 answers without a record)',
]

describe('the live line', () => {
  it('names the call that is waited for, its time, the step and the tokens; the transcript is as without it', async () => {
    const cwd = place()
    const terminal = start(cwd)
    await terminal.until((lines) => lines.some((line) => /^. slow \{…\} [1-9]\.\d s · step 2 · 12,300 tokens$/.test(line)))
    expect(terminal.lines.slice(0, -1)).toEqual(TRANSCRIPT)
    expect(terminal.cursor).toEqual({ column: 0, line: terminal.lines.at(-1) })
    go(cwd)
    expect(await terminal.end()).toBe(0)
    expect(terminal.lines).toEqual([...TRANSCRIPT, ...END])
  })

  it('gives way to what plugins print, whole lines or not, and to what is said on standard error', async () => {
    const body = `
      setTimeout(() => console.log('printed'), 300)
      setTimeout(() => console.error('complained'), 600)
      setTimeout(() => process.stdout.write('half a '), 900)
      setTimeout(() => process.stderr.write(Buffer.from('line\\n')), 1500)`
    const cwd = place({ body })
    const terminal = start(cwd)
    await terminal.until('half a')
    expect(terminal.cursor).toEqual({ column: 7, line: 'half a ' })
    await terminal.until((lines) => lines.includes('half a line') && waits(lines))
    go(cwd)
    await terminal.end()
    expect(terminal.lines).toEqual([...TRANSCRIPT, 'printed', 'complained', 'half a line', ...END])
  })

  it('shows control characters and those that turn text around, and never sends them', async () => {
    const script = String.raw`- calls: [{ name: slow, arguments: "\e]0;title\a\u202e\e[2J" }]` + '\n- text: done\n'
    const cwd = place({ script })
    const terminal = start(cwd)
    await terminal.until((lines) => lines.some((line) => line.includes(String.raw`slow \x1b]0;title\x07\u202e\x1b[2J `) && isLive(line)))
    expect(terminal.output).not.toContain('\u001b]0;')
    expect(terminal.output).not.toContain('\u001b[2J')
    expect(terminal.output).not.toContain('\u202e')
    go(cwd)
    await terminal.end()
  })

  it('is one line at any width, also while the window changes', async () => {
    const cwd = place()
    const terminal = start(cwd)
    await terminal.until(waits)
    terminal.resize(24)
    await terminal.until((lines) => lines.some((line) => isLive(line) && line.length <= 23 && line.endsWith('…')))
    expect(terminal.lines.filter(isLive)).toHaveLength(1)
    terminal.resize(60)
    await terminal.until((lines) => lines.some((line) => isLive(line) && line.endsWith('tokens')))
    expect(terminal.lines.filter(isLive)).toHaveLength(1)
    go(cwd)
    await terminal.end()
    expect(terminal.lines.filter(isLive)).toEqual([])
    expect(terminal.lines.slice(0, 3)).toEqual(TRANSCRIPT.slice(0, 3))
    expect(terminal.lines.at(-1)).toBe('a record)')
  })

  it('stays while nothing else could wake the process', async () => {
    const terminal = start(place({ body: 'clearInterval(timer)' }), { columns: 200 })
    await terminal.until((lines) => lines.some((line) => line.includes('hangs: nothing is left')) && waits(lines))
    terminal.kill('SIGTERM')
    expect(await terminal.end()).toBe(143)
    expect(terminal.lines.filter(isLive)).toEqual([])
  })
})

describe('the terminal is as it was', () => {
  const isRestored = ({ output, lines }: Terminal): void => {
    expect(lines.filter(isLive)).toEqual([])
    expect(output).not.toContain('\u001b[?25l')
    expect(output.lastIndexOf('\u001b[?7h')).toBeGreaterThan(output.lastIndexOf('\u001b[?7l'))
  }

  it.each([
    ['SIGHUP', 129],
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('after %s', async (signal, code) => {
    const terminal = start(place())
    await terminal.until(waits)
    terminal.kill(signal)
    expect(await terminal.end()).toBe(code)
    isRestored(terminal)
    expect(terminal.lines).toContain(`${signal}: cancelling; a second one ends at once`)
  })

  it('after a second signal, while the call is deaf', async () => {
    const terminal = start(place({ body: 'reject = () => {}' }))
    await terminal.until(waits)
    terminal.kill('SIGINT')
    await terminal.until((lines) => lines.some((line) => line.startsWith('SIGINT:')))
    terminal.kill('SIGINT')
    expect(await terminal.end()).toBe(130)
    isRestored(terminal)
  })

  it('after a crash, with the trace below the transcript', async () => {
    // The first line of the trace is the place, which is to be shorter than the live line.
    const terminal = start(place({ body: "setTimeout(() => { throw new Error('crashed') }, 400)", name: 'l-' }))
    await terminal.until(waits)
    expect(await terminal.end()).toBe(1)
    isRestored(terminal)
    expect(terminal.lines.some((line) => line.includes('Error: crashed'))).toBe(true)
    expect(terminal.lines.some((line) => /tool\.mjs:\d+$/.test(line))).toBe(true)
    expect(terminal.lines.slice(0, TRANSCRIPT.length)).toEqual(TRANSCRIPT)
  })

  it('while the process is stopped, and the line comes back after', async () => {
    const cwd = place()
    const terminal = start(cwd)
    await terminal.until(waits)
    terminal.kill('SIGTSTP')
    await terminal.until((lines) => !lines.some(isLive))
    // It may just be about to stop.
    const goOn = setInterval(() => terminal.kill('SIGCONT'), 100)
    onTestFinished(() => clearInterval(goOn))
    await terminal.until(waits)
    go(cwd)
    expect(await terminal.end()).toBe(0)
    expect(terminal.lines).toEqual([...TRANSCRIPT, ...END])
  })
})

describe('there is no live line', () => {
  const TRACES = new RegExp(String.raw`[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]|\x1b\[[?J]`)

  const waited = "setTimeout(() => process.stderr.write('waited\\n'), 500)"

  it('in a pipe', async () => {
    const cwd = place({ body: waited })
    const child = pipe(['run'], { cwd, env: { FORCE_COLOR: '1' } })
    await printed(child, 'waited')
    go(cwd)
    const { stdout, stderr } = await child
    expect(`${stdout}${stderr}`).not.toMatch(TRACES)
  })

  it.each([
    ['on a terminal that cannot move its cursor', [], { TERM: 'dumb' }],
    ['in JSON', ['--json'], {}],
  ])('%s', async (_, args, env) => {
    const cwd = place({ body: waited })
    const terminal = start(cwd, { env }, args)
    await terminal.until('waited')
    go(cwd)
    await terminal.end()
    expect(terminal.output).not.toMatch(TRACES)
  })
})

it('words wrap at the width, and what follows keeps the indent, also that of a text itself', async () => {
  const text =
    'The quick brown fox jumps over the lazy dog, and the dog does not mind.\n    if (it) did, somebody would certainly have heard of it by now'
  const cwd = place({ script: `- text: ${JSON.stringify(text)}\n` })
  const terminal = start(cwd, { columns: 40 })
  expect(await terminal.end()).toBe(0)
  expect(terminal.lines.slice(5)).toEqual([
    '  model',
    '    The quick brown fox jumps over the',
    '    lazy dog, and the dog does not mind.',
    '        if (it) did, somebody would',
    '        certainly have heard of it by',
    '        now',
    '== turn 1 ended: completed',
    'summary: 0 calls, 0 reminders, 0',
    'timeouts, 1 agent, 1 turn, 1 step,',
    'tokens not recorded',
  ])
})
