import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { main } from '../src/main.ts'
import { type Ended, folder, ROOT, run } from './cli.ts'

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }

const written = { out: '', err: '' }

beforeEach(() => {
  Object.assign(written, { out: '', err: '' })
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => ((written.out += String(text)), true))
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => ((written.err += String(text)), true))
})
afterEach(() => {
  vi.restoreAllMocks()
})

/** As a child would, without one. */
async function here(args: readonly string[]): Promise<Ended> {
  const code = await main(args)
  return { code, ...written }
}

describe('a usage error', () => {
  it('exits with 2, explains and says where the help is', async () => {
    const { code, out, err } = await run(['run', '--nope'])
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toBe("error: unknown option '--nope'\n(loopguard run --help shows how it is used)")
  })

  it.each([
    [['replay'], "error: missing required argument 'transcript'", '(loopguard replay --help shows how it is used)'],
    [
      ['replay', 'x.json', '--thresholds', '3,x'],
      "argument '3,x' is invalid. Expected integers separated by commas",
      '(loopguard replay --help shows how it is used)',
    ],
    [
      ['run', '--load-limit', '0'],
      "argument '0' is invalid. Expected milliseconds, 1 to 2147483647.",
      '(loopguard run --help shows how it is used)',
    ],
    [['run', '--load-limit', '1s'], "argument '1s' is invalid.", '(loopguard run --help shows how it is used)'],
    [['run', 'a.yml', 'b.yml'], "too many arguments for 'run'", '(loopguard run --help shows how it is used)'],
    [['rnu'], "error: unknown command 'rnu'\n(Did you mean run?)", '(loopguard --help shows how it is used)'],
  ])('may be of any kind: loopguard %j', async (args, complaint, hint) => {
    const { code, out, err } = await here(args)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain(complaint)
    expect(err.trimEnd().slice(-hint.length)).toBe(hint)
    expect(err).not.toContain('Usage:')
  })

  it('is to say nothing: then the whole help is the answer', async () => {
    const { code, out, err } = await here([])
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toMatch(/^Usage: loopguard \[options\] \[command\]\n/)
  })

  it('is what a guard refuses that was set up on the command line', async () => {
    const { code, err } = await run([
      'replay',
      join(ROOT, 'examples/transcripts/failing-test.json'),
      '--thresholds',
      '3,1',
      '--exclude',
      '',
    ])
    expect(code).toBe(2)
    expect(err).toMatch(/^error: invalid config:\n.*`thresholds`.*integer >= 2, got 1/)
    expect(err).toContain('(loopguard replay --help shows how it is used)')
  })

  it('is not what is wrong with the transcript, which exits with 1', async () => {
    const path = folder({ 'x.json': '{' })
    const { code, err } = await run(['replay', 'x.json', '--thresholds', '1'], { cwd: path })
    expect(code).toBe(1)
    expect(err).toContain(
      `replay (@loopguard/testkit/replay): ${path}/x.json:1:2: not JSON: expected a key in double quotes or \`}\`, got the end of the file`,
    )
  })
})

describe('asking', () => {
  it.each([
    [['--help'], 'Exit codes: 0 every turn completed'],
    [['replay', '--help'], '--thresholds <counts>'],
    [['--version'], version],
  ])('exits with 0 and answers on standard output: loopguard %j', async (args, answer) => {
    const { code, out, err } = await here(args)
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toContain(answer)
  })

  it('any command about its use answers with examples that begin with its name', async () => {
    await here(['--help'])
    const names = commandsIn(written.out)
    expect(names).toEqual(expect.arrayContaining(['run', 'replay', 'report', 'sessions', 'show', 'repair']))
    for (const name of names) {
      written.out = ''
      await here([name, '--help'])
      const examples = written.out.split('\nExamples:\n')[1]?.trimEnd().split('\n') ?? []
      expect([name, examples.length > 0]).toEqual([name, true])
      for (const line of examples) expect(line).toMatch(new RegExp(`^ {2}(?:.*[(|] ?)?loopguard ${name}\\b.* {2}\\S`))
    }
  })

  it('lists the options that the README lists', async () => {
    const options = (text: string): string[] => [...new Set(text.match(/--[a-z-]+ [<[][\w.]+[>\]]|--json/g))].sort()
    await here(['--help'])
    for (const name of commandsIn(written.out)) await here([name, '--help'])
    expect(options(written.out)).toEqual(options(readFileSync(join(ROOT, 'packages/boot/loopguard/README.md'), 'utf8')))
  })
})

/** As the help lists them. */
function commandsIn(help: string): string[] {
  const list = /^Commands:\n([^]*?)\n\n/m.exec(help)?.[1] ?? ''
  return Array.from(list.matchAll(/^ {2}(\w+)/gm), ([, name = '']) => name).filter((name) => name !== 'help')
}
