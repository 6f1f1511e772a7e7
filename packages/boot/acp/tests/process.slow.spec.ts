import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { childrenOf, editor, folder, isRunning, locks, logOf, PATTERN, processesOf, rows } from './editor.ts'
import { told, until, updatesIn } from './support.ts'

const TOOLS = `
import { spawn, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
export const inject = ['tools']
const tool = (ctx, name, execute) => ctx.tools.register({ name, description: name, parameters: {}, execute })
export function apply(ctx) {
  tool(ctx, 'prints', () => {
    console.log('a line of console.log')
    console.info({ a: 1 })
    process.stdout.write('{"jsonrpc":"2.0","method":"forged"}\\n')
    return 'printed'
  })
  tool(ctx, 'spawns', async () => {
    spawnSync('sh', ['-c', 'echo from a child that inherits; cat'], { stdio: 'inherit' })
    await new Promise((resolve) => spawn('sh', ['-c', 'echo from another child; cat >&2'], { stdio: 'inherit' }).on('exit', resolve))
    return 'spawned'
  })
  tool(ctx, 'slow', (_args, { signal }) => new Promise((_resolve, reject) => {
    writeFileSync('started', String(process.pid))
    const timer = setInterval(() => {}, 1000)
    signal.addEventListener('abort', () => { clearInterval(timer); writeFileSync('ended', ''); reject(signal.reason) })
  }))
  tool(ctx, 'deaf', () => new Promise(() => { writeFileSync('started', String(process.pid)); setInterval(() => {}, 1000) }))
}
`
const calls = (...names: string[]): string =>
  names.map((name) => `- calls: [{ name: ${name}, arguments: {} }]\n`).join('') + '- text: Done.\n'
const composed = (script: string, more = PATTERN): string => folder({ 'cordis.yml': rows(more), 'script.yml': script, 'tools.mjs': TOOLS })

const started = (path: string): Promise<void> =>
  until(() => {
    try {
      return readFileSync(join(path, 'started'), 'utf8') !== ''
    } catch {
      return false
    }
  }, 'the tool starts')

describe('standard output', () => {
  it('holds the protocol alone; what a tool prints, and what its children print, goes to standard error', async () => {
    const path = composed(calls('prints', 'spawns'))
    const { open, prompt, leave, exited, out, err, frames } = await editor(path)
    const id = await open(path)
    expect(await prompt(id, 'go')).toEqual({ stopReason: 'end_turn' })
    leave()
    expect(await exited).toEqual({ code: 0, signal: null })
    const lines = out().trimEnd().split('\n')
    expect(lines.map((line) => (JSON.parse(line) as { jsonrpc: string }).jsonrpc)).toEqual(lines.map(() => '2.0'))
    expect(out()).not.toContain('forged')
    for (const words of ['a line of console.log', '{ a: 1 }', 'forged', 'from a child that inherits', 'from another child'])
      expect(err()).toContain(words)
    // Neither the prompt of the pattern nor a transcript.
    expect(err()).not.toContain('turn 1')
    expect(told(updatesIn(frames)).at(-1)).toBe('says: Done.')
  })

  it('of a composition whose row is run by `loopguard run` holds the protocol, too', async () => {
    const path = composed(
      calls('prints'),
      "- { name: '@loopguard/agent-loop' }\n- { name: '@loopguard/acp', config: { provider: scripted, model: m } }\n",
    )
    const { open, prompt, leave, exited, out, err } = await editor(path, { args: ['run'] })
    expect(await prompt(await open(path), 'go')).toEqual({ stopReason: 'end_turn' })
    leave()
    expect(await exited).toEqual({ code: 0, signal: null })
    expect(out()).not.toContain('forged')
    expect(err()).toContain('a line of console.log')
    expect(err()).toContain('forged')
  })
})

describe('the end', () => {
  it('of the input in the middle of a tool: the tool is cancelled, the log whole and free, the exit code 0, and no process left', async () => {
    const path = composed(calls('slow'))
    const { child, open, prompt, leave, exited } = await editor(path)
    const id = await open(path)
    prompt(id, 'go').catch(() => {})
    await started(path)
    const inner = childrenOf(child.pid as number)
    expect(inner).toHaveLength(1)
    leave()
    expect(await exited).toEqual({ code: 0, signal: null })
    expect(readFileSync(join(path, 'ended'), 'utf8')).toBe('')
    expect(logOf(path, id).at(-1)).toMatchObject({ type: 'turn/end', data: { reason: { kind: 'aborted' } } })
    expect(locks(path)).toEqual([])
    expect(inner.filter(isRunning)).toEqual([])
  })

  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
    ['SIGHUP', 129],
  ] as const)('by %s: the prompt is answered as cancelled first', async (signal, code) => {
    const path = composed(calls('slow'))
    const { child, open, prompt, exited } = await editor(path)
    const id = await open(path)
    const done = prompt(id, 'go')
    await started(path)
    child.kill(signal)
    expect(await done).toEqual({ stopReason: 'cancelled', _meta: { loopguard: { cause: { kind: 'signal', signal } } } })
    expect(await exited).toEqual({ code, signal: null })
    expect(logOf(path, id).at(-1)).toMatchObject({ type: 'turn/end', data: { reason: { kind: 'aborted', reason: { kind: 'signal' } } } })
    expect(locks(path)).toEqual([])
  })

  it('of an outer process that is killed: the inner one ends in order', async () => {
    const path = composed(calls('slow'))
    const { open, prompt } = await editor(path, { keepsInput: true })
    const id = await open(path)
    prompt(id, 'go').catch(() => {})
    await started(path)
    const outer = Number(readFileSync(join(path, 'outer.pid'), 'utf8'))
    const [inner] = childrenOf(outer)
    process.kill(outer, 'SIGKILL')
    await until(() => !isRunning(inner as number), 'the inner process ends')
    expect(logOf(path, id).at(-1)).toMatchObject({ type: 'turn/end', data: { reason: { kind: 'aborted' } } })
    expect(locks(path)).toEqual([])
  })

  it('with a tool that is deaf: it is given up on when its time is over, and the log says so', async () => {
    const path = composed(calls('deaf'))
    const { open, prompt, leave, exited, err } = await editor(path, { args: ['acp', '--stop-limit', '300'] })
    const id = await open(path)
    prompt(id, 'go').catch(() => {})
    await started(path)
    leave()
    expect(await exited).toEqual({ code: 0, signal: null })
    expect(err()).toContain('gave up on')
    const log = logOf(path, id)
    expect(log.at(-1)).toMatchObject({ type: 'turn/end' })
    expect(log.findLast(({ type }) => type === 'tool/result')?.data).toMatchObject({ error: { code: 'TOOL_OUTCOME_UNKNOWN' } })
    expect(locks(path)).toEqual([])
  })

  it('before a word was said', async () => {
    const path = composed(calls())
    const { leave, exited, out } = await editor(path)
    leave()
    expect(await exited).toEqual({ code: 0, signal: null })
    expect(out().trimEnd().split('\n')).toHaveLength(1)
    expect(processesOf(path)).toEqual([])
  })
})

describe('the rows', () => {
  it('a session goes on in the next process, in the folder that the editor names', async () => {
    const path = composed('- text: One.\n- text: Two.\n')
    const first = await editor(path)
    const id = await first.open(path)
    await first.prompt(id, 'hello')
    first.leave()
    await first.exited
    const second = await editor(path)
    await second.acp.request('session/load', { sessionId: id, cwd: '/', mcpServers: [] })
    expect(told(updatesIn(second.frames))).toEqual(['user: hello', 'says: One.'])
    const { sessions } = await second.acp.request('session/list', {})
    expect(sessions).toMatchObject([{ sessionId: id, cwd: '/', title: 'hello' }])
    expect(
      logOf(path, id)
        .filter(({ type }) => type === 'acp/opened')
        .map(({ data }) => data['cwd']),
    ).toEqual([path, '/'])
  })

  it('without a row and without an agent to take as the pattern, it says what to add, and exits with 1', async () => {
    const path = composed(calls(), "- { name: '@loopguard/agent-loop' }\n")
    await expect(editor(path)).rejects.toThrow(
      /exited with 1: loopguard: .*cordis\.yml does not say what agent a session is to have: add a row @loopguard\/acp/,
    )
  })

  it('a row that does not start is named on standard error, with exit code 1', async () => {
    const path = composed(calls(), `${PATTERN}- { id: none, name: './none.mjs' }\n`)
    await expect(editor(path)).rejects.toThrow(/exited with 1: [\s\S]*none/)
  })

  it('with --stream the text comes as it is said, also of a request that fails then', async () => {
    const path = composed('- { text: Half., finish: { kind: error, failure: { message: no, code: NO } } }\n')
    const { open, prompt, frames } = await editor(path, { args: ['acp', '--stream', 'cordis.yml'] })
    await expect(prompt(await open(path), 'go')).rejects.toMatchObject({ data: { code: 'NO' } })
    expect(updatesIn(frames)[0]).toMatchObject({ sessionUpdate: 'agent_message_chunk', messageId: '1.1.1', content: { text: 'Half.' } })
  })

  it('an `--inner` by hand is refused', async () => {
    await expect(editor(composed(calls()), { args: ['acp', '--inner=1'] })).rejects.toThrow(
      /exited with 1: loopguard: --inner is for the command itself/,
    )
  })
})
