import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { AGENT, type Ended, folder, HOST, ROOT, run } from './cli.ts'

const GENTLE =
  'You are repeating the exact same tool call with identical arguments. Carefully analyze the previous result before calling again: if the task is not complete, try a different approach or different arguments instead of repeating the call.'

/** Those of the pieces that do not stand in `text` after the one before them. */
function missingInOrder(text: string, pieces: readonly string[]): string[] {
  let at = 0
  return pieces.filter((piece) => {
    const found = text.indexOf(piece, at)
    if (found >= 0) at = found + piece.length
    return found < 0
  })
}

const hashOf = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex')

describe('the composition of this repository', () => {
  const file = join(ROOT, 'cordis.yml')
  let before: string
  let ended: Ended

  beforeAll(async () => {
    before = hashOf(file)
    ended = await run(['run'])
  })

  it('completes, with nothing to complain about', () => {
    expect(ended).toMatchObject({ code: 0, err: '' })
  })

  it('shows the loop, each reminder whole and after its call, the timeout, and the numbers', () => {
    const call = (id: number): string => `call: search {"query":"word list revision"} [call_${id}]\nresult [call_${id}]: No results`
    const detailed = (count: number): string =>
      `\n- tool: search\n- consecutive_calls: ${count}\n- arguments: {"query":"word list revision"}\n`
    const pieces = [
      '== archivist, turn 1\n',
      'user: When was the word list last revised?\n',
      call(1),
      'call: note {"text":"nothing yet"} [call_2]',
      call(3),
      call(5),
      `REMINDER after search [call_5]: ${GENTLE}\n`,
      call(7),
      call(9),
      'REMINDER after search [call_9]:\n',
      detailed(5),
      call(11),
      call(13),
      call(15),
      'REMINDER after search [call_15]:\n',
      detailed(8),
      'call: read_page {"page":12} [call_16]\n',
      'TIMEOUT [call_16]: Error: tool call timed out after 250ms\n',
      '== turn 1 ended: completed\n',
      'summary: 16 calls, 3 reminders, 1 timeout, 1 agent, 1 turn, 17 steps, 2010 input + 82 output tokens (14 answers without a record)',
    ]
    expect(missingInOrder(ended.out, pieces)).toEqual([])
  })

  it('prints what the README shows of it, whole lines in their order', () => {
    const [, shown] = /Shortened:\n\n```text\n([^]+?)```/.exec(readFileSync(join(ROOT, 'README.md'), 'utf8')) ?? []
    const lines = (shown ?? '(the README shows nothing)').trimEnd().split('\n')
    expect(
      missingInOrder(
        `${ended.out}\n`,
        lines.map((line) => `${line}\n`),
      ),
    ).toEqual([])
  })

  it('names the calls after which the reminder acted', () => {
    expect(ended.out).toMatch(
      /the reminder acted after\n {2}1\. search .* \[call_5\] \(archivist, turn 1, step 5\)\n {2}2\. search .* \[call_9\] .*\n {2}3\. search .* \[call_15\] .*\nsummary/,
    )
  })

  it('has no colours when nobody watches a terminal', () => {
    expect(ended.out).not.toContain('\u001b')
  })

  it('stays as it is, to the byte', () => {
    expect(hashOf(file)).toBe(before)
  })
})

describe('--json', () => {
  it('prints one event a line, just as the log holds it, and the summary last', async () => {
    const { code, out, err } = await run(['run', '--json'])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    const lines = out
      .split('\n')
      .map((line) => JSON.parse(line) as { agent?: string; event?: { seq: number; type: string }; summary?: object })
    const last = lines.pop()
    expect(lines.map(({ agent, event }) => [agent, event?.seq])).toEqual(lines.map((_, index) => ['archivist', index]))
    expect(lines[0]?.event?.type).toBe('session/start')
    expect(lines.at(-1)?.event).toMatchObject({ type: 'turn/end', data: { turn: 1, reason: { kind: 'completed' } } })
    expect(last).toMatchObject({
      summary: {
        agents: 1,
        turns: 1,
        unfinished: 0,
        steps: 17,
        calls: 16,
        reminders: 3,
        timeouts: 1,
        tokens: { input: 2010, output: 82 },
        reminded: [
          { callId: 'call_5' },
          { callId: 'call_9' },
          { agent: 'archivist', turn: 1, step: 15, callId: 'call_15', name: 'search' },
        ],
      },
    })
  })
})

/** Hands over to a second agent a little after the first one has become idle. */
const RELAY = `
  export const inject = ['agentLoop']
  export function apply(ctx) {
    const second = ctx.agentLoop.create('second', { provider: 'scripted', model: 'm' })
    ctx.on('agent/status', async ({ agent, status }) => {
      if (agent === second || status !== 'idle') return
      for (let i = 0; i < 20; i++) await null
      second.followup({ id: 'relayed', role: 'user', content: [{ type: 'text', text: 'go on' }], source: { kind: 'plugin', plugin: 'relay' } })
    })
  }`

describe('the exit code', () => {
  it('is 3 when some turn did not complete; the reason is shown, in colours where they are forced', async () => {
    const path = folder({ 'cordis.yml': `${HOST}${AGENT}- name: ./relay.mjs\n`, 'script.yml': '[]', 'relay.mjs': RELAY })
    const { code, out, err } = await run(['run'], { cwd: path, env: { FORCE_COLOR: '1' } })
    expect({ code, err }).toEqual({ code: 3, err: '' })
    expect(out).toContain('\u001b[31m== turn 1 ended: error SCRIPT_EXHAUSTED: the script is used up')
    expect(out).toContain('2 agents, 2 turns (2 not completed)')
  })
})

describe('the rows', () => {
  const says = (words: string): string => `export const apply = () => { console.error('${words}') }`
  const INCLUDED = '# kept\n- { id: itself, name: ./itself.mjs }\n- { id: more, name: ./more.mjs }\n'
  let path: string
  let ended: Ended

  beforeAll(async () => {
    path = folder({
      'cordis.yml': `
        - name: ./slow.mjs
        - name: '@loopguard/llm'
        - name: only-for-import
        - { name: '@deepseek-ai/cordis-plugin-include', config: { path: ./sub/rows.yml } }
        - { name: ./tree.mjs, config: { path: ./sub/other.yml } }
        - name: ./server.mjs`,
      'slow.mjs': `await new Promise((resolve) => setTimeout(resolve, 100))\n${says('slow')}`,
      'node_modules/@loopguard/llm/package.json': '{"name":"@loopguard/llm","type":"module","exports":"./index.js"}',
      'node_modules/@loopguard/llm/index.js': says('the one of the folder'),
      'node_modules/only-for-import/package.json': '{"name":"only-for-import","type":"module","exports":{"import":"./index.js"}}',
      'node_modules/only-for-import/index.js': says('a package without require'),
      'sub/rows.yml': INCLUDED,
      'sub/other.yml': INCLUDED,
      // A plugin of another name that loads rows from a file, and would write to it.
      'tree.mjs': `export { default } from ${JSON.stringify(pathToFileURL(createRequire(import.meta.url).resolve('@deepseek-ai/cordis-plugin-include')).href)}`,
      'sub/more.mjs': says('more'),
      // What unloads itself is `disabled` from then on, which the stock include writes into its file.
      'sub/itself.mjs': "export const apply = (ctx) => { ctx.on('loopguard/ready', () => void ctx.fiber.dispose()) }",
      'server.mjs': 'export const apply = () => { setInterval(() => {}, 1000) }',
    })
    ended = await run(['run', join(path, 'cordis.yml')])
  })

  it('start in the order of the file, however long their modules take to load', () => {
    expect(ended.err.split('\n').slice(0, 3)).toEqual(['slow', 'the one of the folder', 'a package without require'])
  })

  it('resolve from the folder of the composition before anything else, and as imports do', () => {
    expect(ended.err).toContain('the one of the folder')
    expect(ended.err).toContain('a package without require')
  })

  it('may be a file of more rows, with names from its own folder, and it is not written to either', () => {
    expect(ended.err.match(/^more$/gm)).toHaveLength(2)
    for (const file of ['sub/rows.yml', 'sub/other.yml']) expect(readFileSync(join(path, file), 'utf8')).toBe(INCLUDED)
  })

  it('may have nothing to do, which is said; what they left behind does not keep the process', () => {
    expect(ended.code).toBe(0)
    expect(ended.err).toContain('nothing to do: no agent has a prompt')
  })
})
