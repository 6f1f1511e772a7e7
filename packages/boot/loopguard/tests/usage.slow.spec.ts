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
  it('exits with 2, explains and shows the usage', async () => {
    const { code, out, err } = await run(['run', '--nope'])
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toMatch(/^error: unknown option '--nope'\n\nUsage: loopguard run \[options\] \[cordis.yml\]\n/)
  })

  it.each([
    [['replay'], "error: missing required argument 'transcript'", 'Usage: loopguard replay [options] <transcript>'],
    [
      ['replay', 'x.json', '--thresholds', '3,x'],
      "argument '3,x' is invalid. Expected integers separated by commas",
      'Usage: loopguard replay',
    ],
    [['run', '--load-limit', '0'], "argument '0' is invalid. Expected milliseconds, 1 to 2147483647.", 'Usage: loopguard run'],
    [['run', '--load-limit', '1s'], "argument '1s' is invalid.", 'Usage: loopguard run'],
    [['run', 'a.yml', 'b.yml'], "too many arguments for 'run'", 'Usage: loopguard run'],
    [['rnu'], "error: unknown command 'rnu'\n(Did you mean run?)", 'Usage: loopguard [options] [command]'],
    [[], 'Usage: loopguard [options] [command]', 'run [options] [cordis.yml]'],
  ])('may be of any kind: loopguard %j', async (args, complaint, usage) => {
    const { code, out, err } = await here(args)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain(complaint)
    expect(err).toContain(usage)
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
    expect(err).toContain('Usage: loopguard replay')
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

  it('lists the options that the README lists', async () => {
    const options = (text: string): string[] => [...new Set(text.match(/--[a-z-]+ <\w+>|--json/g))].sort()
    for (const command of ['run', 'sessions', 'show', 'repair']) await here([command, '--help'])
    const { out } = await here(['replay', '--help'])
    expect(options(out)).toEqual(options(readFileSync(join(ROOT, 'packages/boot/loopguard/README.md'), 'utf8')))
  })
})
