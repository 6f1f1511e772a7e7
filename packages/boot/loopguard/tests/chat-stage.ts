import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { folder } from './cli.ts'
import { Terminal, type TerminalOptions } from './pty.ts'

/** `look` answers at once, `slow` waits for a file, `late` exceeds its budget, `deaf` ends never, `erase` needs a grant. */
export const TOOLS = `
  import { existsSync } from 'node:fs'
  export const inject = ['tools']
  export function apply(ctx) {
    const tool = (name, execute, more) => ctx.tools.register({ name, description: '', parameters: {}, execute, ...more })
    const until = (signal, done) => new Promise((resolve, reject) => {
      const timer = setInterval(() => { if (done()) { clearInterval(timer); resolve('slept') } }, 20)
      signal.addEventListener('abort', () => { clearInterval(timer); reject(signal.reason) })
    })
    tool('look', () => 'first line\\nsecond line')
    tool('slow', (_args, { signal }) => until(signal, () => existsSync('go')))
    tool('noisy', (_args, { signal }) => {
      let count = 0
      return until(signal, () => { console.log('noise ' + ++count); if (count % 2) console.error('moan ' + count); return existsSync('go') })
    })
    tool('late', (_args, { signal }) => until(signal, () => false), { timeoutMs: 150 })
    tool('deaf', () => new Promise(() => { setInterval(() => {}, 1000) }))
    tool('erase', () => 'erased')
    ctx.on('tools/pre-execute', (exec, next) => exec.name === 'erase' ? { kind: 'ask', reason: 'this is for good' } : next())
  }`
export const MODEL = "- { name: '@loopguard/testkit/scripted-model', config: { script: script.yml } }\n- { name: ./tools.mjs }\n"
export const STORED = "- { name: '@loopguard/session', config: { directory: logs } }\n"

export const place = (script: string, rows = MODEL): string => folder({ 'cordis.yml': rows, 'script.yml': script, 'tools.mjs': TOOLS })
export const go = (cwd: string): void => writeFileSync(join(cwd, 'go'), '')

export async function chat(
  cwd: string,
  { args = [], ...options }: TerminalOptions & { readonly args?: readonly string[] } = {},
): Promise<Terminal> {
  const terminal = new Terminal(['chat', ...args], { cwd, ...options })
  await terminal.until(/leaves\.\n>$/)
  return terminal
}

export const call = (name: string, args = '{}'): string => `- calls: [{ name: ${name}, arguments: ${args} }]\n`
export const isLive = (line: string): boolean => /^[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/.test(line)
export const GREETING = 'chat: scripted/scripted. /help says what there is; Ctrl-C cancels, twice leaves.'

/** What stays on the screen. */
export const story = ({ lines }: Terminal): string[] =>
  lines.filter((line) => !isLive(line) && !/^>? ?$/.test(line)).map((line) => line.replace(/\d+\.\d s/, 'N s'))

export async function enter(terminal: Terminal, text: string): Promise<void> {
  terminal.type(text)
  await terminal.until((lines) => lines.at(-1) === `> ${text}`)
  terminal.type('\r')
}

export async function leave(terminal: Terminal): Promise<void> {
  await enter(terminal, '/quit')
  expect(await terminal.end()).toBe(0)
  expect(terminal.lines.filter(isLive)).toEqual([])
  expect(terminal.output).not.toContain('\u001b[?25l')
  expect(terminal.output.lastIndexOf('\u001b[?7h')).toBeGreaterThan(terminal.output.lastIndexOf('\u001b[?7l'))
}
