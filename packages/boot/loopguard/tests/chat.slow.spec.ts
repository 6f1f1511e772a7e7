import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { folder, run } from './cli.ts'
import { Terminal, type TerminalOptions } from './pty.ts'

/** `look` answers at once, `slow` waits for a file, `late` exceeds its budget, `deaf` ends never, `erase` needs a grant. */
const TOOLS = `
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
const MODEL = "- { name: '@loopguard/testkit/scripted-model', config: { script: script.yml } }\n- { name: ./tools.mjs }\n"
const STORED = "- { name: '@loopguard/session', config: { directory: logs } }\n"

const place = (script: string, rows = MODEL): string => folder({ 'cordis.yml': rows, 'script.yml': script, 'tools.mjs': TOOLS })
const go = (cwd: string): void => writeFileSync(join(cwd, 'go'), '')

async function chat(
  cwd: string,
  { args = [], ...options }: TerminalOptions & { readonly args?: readonly string[] } = {},
): Promise<Terminal> {
  const terminal = new Terminal(['chat', ...args], { cwd, ...options })
  await terminal.until(/leaves\.\n>$/)
  return terminal
}

const call = (name: string, args = '{}'): string => `- calls: [{ name: ${name}, arguments: ${args} }]\n`
const isLive = (line: string): boolean => /^[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/.test(line)
const GREETING = 'chat: scripted/scripted. /help says what there is; Ctrl-C cancels, twice leaves.'

/** What stays on the screen. */
const story = ({ lines }: Terminal): string[] =>
  lines.filter((line) => !isLive(line) && !/^>? ?$/.test(line)).map((line) => line.replace(/\d+\.\d s/, 'N s'))

async function enter(terminal: Terminal, text: string): Promise<void> {
  terminal.type(text)
  await terminal.until((lines) => lines.at(-1) === `> ${text}`)
  terminal.type('\r')
}

async function leave(terminal: Terminal): Promise<void> {
  await enter(terminal, '/quit')
  expect(await terminal.end()).toBe(0)
  expect(terminal.lines.filter(isLive)).toEqual([])
  expect(terminal.output).not.toContain('\u001b[?25l')
  expect(terminal.output.lastIndexOf('\u001b[?7h')).toBeGreaterThan(terminal.output.lastIndexOf('\u001b[?7l'))
}

describe('a conversation', () => {
  it('shows what the model says, each call with its time and the first line of its result, and where the reminder acted', async () => {
    const terminal = await chat(
      place(
        `${call('look', '{ q: x }').replace('- ', '- text: I look.\n  ').trimEnd()}\n  repeat: 3\n- text: |-\n    All the same.\n    I stop.\n`,
      ),
    )
    await enter(terminal, 'look around')
    await terminal.until('I stop.')
    await leave(terminal)
    const look = '✔ look {"q":"x"} N s  first line'
    expect(story(terminal)).toEqual([
      GREETING,
      '> look around',
      'I look.',
      look,
      'I look.',
      look,
      'I look.',
      look,
      '◆ reminder: look ×3',
      'All the same.',
      'I stop.',
    ])
    expect(terminal.output).toContain('\u001b[33m◆ reminder: look ×3')
  })

  it('names what is waited for, and a timeout in red', async () => {
    const cwd = place(`${call('slow')}${call('late')}- text: done\n`)
    const terminal = await chat(cwd)
    await enter(terminal, 'go')
    await terminal.until((lines) => /^. slow \{\} [1-9]\.\d s · step 1$/.test(lines.at(-2) ?? '') && lines.at(-1) === '>')
    go(cwd)
    await terminal.until('done')
    await leave(terminal)
    expect(story(terminal)).toEqual([
      GREETING,
      '> go',
      '✔ slow {} N s  slept',
      '✖ late {} N s  Error: tool call timed out after 150ms',
      'done',
    ])
    expect(terminal.output).toMatch(new RegExp(String.raw`\x1b\[31m✖ late {} \d\.\d s {2}Error: tool call timed out`))
  })

  it('takes what is typed while it works before the next step; what is being typed is never torn', async () => {
    const cwd = place(`${call('noisy')}- text: I see.\n`)
    const terminal = await chat(cwd)
    await enter(terminal, 'go')
    await terminal.until('moan')
    terminal.type('stop the noi')
    await terminal.until((lines) => lines.at(-1) === '> stop the noi')
    const torn: string[] = []
    const before = terminal.lines.length
    await terminal.until((lines) => {
      if (lines.at(-1) !== '> stop the noi' || terminal.cursor.column !== 14) torn.push(lines.slice(-3).join('\n'))
      return lines.length > before + 30
    })
    terminal.type('\u001b[D\u001b[D\u001b[Dmy ')
    await terminal.until((lines) => lines.at(-1) === '> stop the my noi')
    expect(terminal.cursor.column).toBe(14)
    terminal.type('\u0005se\r')
    await terminal.until('> stop the my noise\n  (the model reads this before its next step)')
    await enter(terminal, '/queue')
    await terminal.until('before the next step: stop the my noise')
    go(cwd)
    await terminal.until('I see.')
    await enter(terminal, '/queue')
    await terminal.until('nothing waits')
    await leave(terminal)
    const noises = terminal.lines.filter((line) => line.startsWith('noise'))
    expect(noises).toEqual(noises.map((_, index) => `noise ${index + 1}`))
    expect(torn.filter((rows) => !/^(?:noise|moan) \d+\n[^\n]*\n> stop the noi$|noi$/.test(rows))).toEqual([])
  })

  it('shows control characters and those that turn text around, and never sends them', async () => {
    const evil = String.raw`"\e]0;title\a\u202e\e[2J"`
    const terminal = await chat(place(`- text: ${evil}\n  calls: [{ name: look, arguments: ${evil} }]\n- text: ok\n`))
    terminal.type('\u0016\u202ehi\r')
    await terminal.until('ok')
    await leave(terminal)
    expect(story(terminal)).toContain(String.raw`\x1b]0;title\x07\u202e\x1b[2J`)
    expect(story(terminal).join('\n')).toContain(String.raw`look \x1b]0;title\x07\u202e\x1b[2J`)
    for (const sent of ['\u001b]0;', '\u001b[2J', '\u202e']) expect(terminal.output).not.toContain(sent)
  })

  it('takes text of several lines that is pasted as one message', async () => {
    const terminal = await chat(place('- text: read\n'))
    terminal.type('one\rtwo\rthree')
    await terminal.until('(2 more lines) > three')
    terminal.type('\r')
    await terminal.until('read')
    await leave(terminal)
    expect(story(terminal)).toEqual([GREETING, '> one', '> two', '> three', 'read'])
  })

  it('has a long line in as many rows as it needs, at any width', async () => {
    const terminal = await chat(place('- text: ok\n'), { columns: 60 })
    const text = 'word '.repeat(30).trim()
    terminal.type(text)
    await terminal.until((lines) => lines.slice(-3).join('') === `> ${text}`)
    terminal.resize(100)
    await terminal.until((lines) => lines.slice(-2).join('') === `> ${text}`)
    terminal.type('!\r')
    await terminal.until('ok')
    await leave(terminal)
    expect(terminal.lines.filter((line) => line.includes('word')).join(' ')).toContain('> word')
  })
})

it('Ctrl-Z gives the terminal away, and what was being typed is there again afterwards', async () => {
  const terminal = await chat(place('- text: ok\n'))
  terminal.type('half a li')
  await terminal.until((lines) => lines.at(-1) === '> half a li')
  const drawn = terminal.output.length
  terminal.type('\u001a')
  // Nobody could wake this process here, so the system does not stop it.
  await terminal.until((lines) => terminal.output.slice(drawn).includes('\r\u001b[J') && lines.at(-1) === '> half a li')
  terminal.type('ne\r')
  await terminal.until('ok')
  await leave(terminal)
  expect(story(terminal)).toEqual([GREETING, '> half a line', 'ok'])
})

it('--agent says whom to talk to', async () => {
  const agents =
    "- { name: '@loopguard/agent-loop', config: { agents: [{ id: a, provider: scripted, model: m, prompt: go }, { id: b, provider: scripted, model: n }] } }\n"
  const rows = ['llm', 'session', 'tools'].map((name) => `- name: '@loopguard/${name}'\n`).join('') + MODEL + agents
  const terminal = await chat(place('- text: ok\n', rows), { args: ['--agent', 'b'] })
  await enter(terminal, 'hi')
  await terminal.until('ok')
  await leave(terminal)
  expect(story(terminal)).toEqual([GREETING.replace('chat: scripted/scripted', 'b: scripted/n'), '> hi', 'ok'])
})

describe('a question', () => {
  const script = `${call('erase', '{ path: a }')}- text: next\n`

  it.each([
    ['y\r', 'yes', '✔ erase {"path":"a"} N s  erased'],
    ['n\r', 'no', '✖ erase {"path":"a"} N s  Error: approval of tool "erase" was rejected'],
    ['\r', 'no', '✖ erase {"path":"a"} N s  Error: approval of tool "erase" was rejected'],
  ])('is answered by %j with %s', async (typed, word, result) => {
    const terminal = await chat(place(script))
    await enter(terminal, 'go')
    await terminal.until((lines) => lines.at(-1) === 'y/N')
    terminal.type(typed)
    await terminal.until('next')
    await leave(terminal)
    expect(story(terminal)).toEqual([GREETING, '> go', 'allow erase {"path":"a"}? this is for good', `  ${word}`, result, 'next'])
  })

  it('puts aside what is being typed, takes only an answer for one, and gives it back', async () => {
    const terminal = await chat(place(`${call('slow')}${script}`))
    await enter(terminal, 'go')
    await terminal.until('slow {}')
    terminal.type('yes, I thi')
    await terminal.until((lines) => lines.at(-1) === '> yes, I thi')
    go(terminal.cwd)
    await terminal.until((lines) => lines.at(-1) === 'y/N')
    terminal.type('nk so\r')
    await terminal.until('y or n? Enter is no.')
    terminal.type('y\r')
    await terminal.until((lines) => lines.at(-1) === '> yes, I thi')
    expect(terminal.lines).toContain('allow erase {"path":"a"}? this is for good')
    expect(terminal.lines).toContain('  yes')
    terminal.type('\u0015')
    await leave(terminal)
  })

  it('goes with the turn that is cancelled', async () => {
    const terminal = await chat(place(script))
    await enter(terminal, 'go')
    await terminal.until((lines) => lines.at(-1) === 'y/N')
    terminal.type('\u0003')
    await terminal.until((lines) => lines.includes('turn ended: aborted (user)') && lines.at(-1) === '>')
    await leave(terminal)
    expect(story(terminal).slice(-2)).toEqual([
      '✖ erase {"path":"a"} N s  Error: tool call aborted before dispatch',
      'turn ended: aborted (user)',
    ])
  })
})

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
    await expect.poll(() => existsSync(join(cwd, 'logs/chat.lock')), { timeout: 30_000 }).toBe(false)
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
