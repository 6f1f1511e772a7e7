import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createUserMessage, text } from '@loopguard/llm'
import { LogDirectory, SessionStore } from '@loopguard/session'
import { Context } from '@deepseek-ai/cordis'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { main } from '../src/main.ts'
import { type Ended, folder } from './cli.ts'

const written = { out: '', err: '' }

beforeEach(() => {
  vi.spyOn(process.stdout, 'write').mockImplementation((words) => ((written.out += String(words)), true))
  vi.spyOn(process.stderr, 'write').mockImplementation((words) => ((written.err += String(words)), true))
})
afterEach(() => {
  vi.restoreAllMocks()
})

async function here(...args: string[]): Promise<Ended> {
  Object.assign(written, { out: '', err: '' })
  const code = await main(args)
  return { code, ...written }
}

/** A folder with a session `a`, in which a person said hello. */
async function withSession(): Promise<string> {
  const directory = join(folder({}), 'logs')
  mkdirSync(directory)
  const ctx = new Context()
  await ctx.plugin(SessionStore, { directory })
  const session = ctx.sessions.create('a')
  session.append('user/message', createUserMessage({ content: [text('hello there')], source: { kind: 'user' } }))
  await ctx.fiber.dispose()
  return directory
}

describe('sessions', () => {
  it('lists what a folder holds, as text and as JSON', async () => {
    const directory = await withSession()
    const listed = await here('sessions', '--directory', directory)
    expect([listed.code, listed.err]).toEqual([0, ''])
    expect(listed.out).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d {2}a {2}hello there\n$/)
    const json = await here('sessions', '--json', '--directory', directory)
    expect(JSON.parse(json.out)).toEqual({ id: 'a', updatedAt: expect.any(Number), title: 'hello there' })
  })

  it('finds the folder in the composition', async () => {
    const directory = await withSession()
    const place = folder({ 'cordis.yml': `- name: '@loopguard/session'\n  config: { directory: ${JSON.stringify(directory)} }\n` })
    expect((await here('sessions', join(place, 'cordis.yml'))).out).toContain('hello there')
  })

  it.each([
    [`- name: '@loopguard/session'\n`, 'keeps its sessions in memory: give --directory'],
    [undefined, 'no folder of sessions: give --directory, or a cordis.yml'],
  ])('says what to do without a folder (%j)', async (yml, message) => {
    const place = folder(yml === undefined ? {} : { 'cordis.yml': yml })
    const { code, out, err } = await here('sessions', join(place, 'cordis.yml'))
    expect([code, out]).toEqual([1, ''])
    expect(err).toContain(message)
  })

  it('makes no folder that is not there, and says when one is empty', async () => {
    const place = folder({})
    const missing = await here('sessions', '--directory', join(place, 'none'))
    expect([missing.code, missing.err, existsSync(join(place, 'none'))]).toEqual([
      1,
      `loopguard: there is no folder ${join(place, 'none')}\n`,
      false,
    ])
    expect((await here('sessions', '--directory', place)).out).toBe(`no sessions in ${place}\n`)
  })
})

describe('repair', () => {
  it('writes a log that loads, says what it dropped, and leaves the original as it was', async () => {
    const directory = await withSession()
    const log = join(directory, 'a.jsonl')
    appendFileSync(log, `garbage\n${'\0'.repeat(32)}\n{"seq":2,"to`)
    const before = readFileSync(log)
    const { code, out, err } = await here('repair', log)
    expect([code, err]).toEqual([0, ''])
    expect(out.split('\n')).toEqual([
      expect.stringMatching(/^a\.jsonl:3: dropped: not JSON: /),
      'a.jsonl:4: dropped: 32 NUL bytes',
      'a.jsonl:5: dropped: a torn last line',
      `wrote ${join(directory, 'a-repaired.jsonl')}: 2 events, 3 dropped, 0 added; the original is as it was`,
      '',
    ])
    expect(readFileSync(log).equals(before)).toBe(true)
    expect((await new LogDirectory(directory).read('a-repaired' as never)).map(({ type }) => type)).toEqual([
      'session/start',
      'user/message',
    ])
  })

  it('never writes over a file, and takes another name with -o', async () => {
    const directory = await withSession()
    const [log, taken] = [join(directory, 'a.jsonl'), join(directory, 'a-repaired.jsonl')]
    writeFileSync(taken, 'mine')
    const refused = await here('repair', log)
    expect([refused.code, refused.err]).toEqual([1, `loopguard: ${taken} is there already; choose another with -o\n`])
    expect(readFileSync(taken, 'utf8')).toBe('mine')
    expect((await here('repair', log, '-o', join(directory, 'b.jsonl'))).code).toBe(0)
  })

  it.each<[string, (directory: string) => string[], string]>([
    ['a log that is not there', (directory) => [join(directory, 'none.jsonl')], 'cannot be read'],
    ['an output that is no log', (directory) => [join(directory, 'a.jsonl'), '-o', join(directory, 'b.txt')], 'must end in .jsonl'],
    ['an output that is no id', (directory) => [join(directory, 'a.jsonl'), '-o', join(directory, '.b.jsonl')], 'starts with a dot'],
    ['a log without an event', (directory) => (writeFileSync(join(directory, 'x.jsonl'), 'x\n'), [join(directory, 'x.jsonl')]), 'no event'],
  ])('refuses %s', async (_what, args, message) => {
    const { code, out, err } = await here('repair', ...args(await withSession()))
    expect([code, out]).toEqual([1, ''])
    expect(err).toContain(message)
  })
})
