import { closeSync, openSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { AGENT, folder, HOST, printed, start } from './cli.ts'

const SCRIPT = '- calls: [{ name: wait, arguments: {} }]\n- text: done\n'

/** A composition whose tool does what `body` says, with `signal` at hand, and which says when it is unloaded. */
function composition(body: string): string {
  const tools = `
    export const inject = ['tools']
    export function apply(ctx) {
      ctx.effect(() => () => { console.error('unloaded') })
      ctx.tools.register({ name: 'wait', description: 'waits', parameters: {}, execute: (_args, { signal }) => new Promise((resolve, reject) => { ${body} }) })
    }`
  return folder({ 'cordis.yml': `${HOST}- { id: tool, name: ./tool.mjs }\n${AGENT}`, 'script.yml': SCRIPT, 'tool.mjs': tools })
}

const UNTIL_ABORTED = `const timer = setTimeout(resolve, 60_000); signal.addEventListener('abort', () => { clearTimeout(timer); reject(signal.reason) })`
const WITHOUT_HANDLE = `signal.addEventListener('abort', () => reject(signal.reason))`
const DEAF = `setTimeout(resolve, 60_000)`
const A_WHILE = `setTimeout(() => resolve('waited'), 300)`

describe('a signal', () => {
  it.each([
    ['SIGHUP', 129],
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s cancels the agents, waits for them, unloads everything and exits with %i', async (signal, code) => {
    const child = start(['run'], { cwd: composition(UNTIL_ABORTED) })
    await printed(child, 'call: wait')
    child.kill(signal)
    const { exitCode, stdout, stderr } = await child
    expect(exitCode).toBe(code)
    expect(stdout).toContain('== turn 1 ended: aborted (signal)\nsummary: 1 call,')
    expect(stderr).toBe(`${signal}: cancelling; a second one ends at once\nunloaded`)
  })

  it('that comes twice ends the process at once, whatever still runs', async () => {
    const child = start(['run'], { cwd: composition(DEAF) })
    await printed(child, 'call: wait')
    child.kill('SIGINT')
    await printed(child, 'cancelling')
    child.kill('SIGTERM')
    const { exitCode, stderr } = await child
    expect({ exitCode, stderr }).toEqual({ exitCode: 143, stderr: 'SIGINT: cancelling; a second one ends at once' })
  })

  it('while rows load unloads what there is', async () => {
    const path = folder({
      'cordis.yml': '- name: ./ready.mjs\n- name: ./slow.mjs\n',
      'ready.mjs': `export const apply = (ctx) => { ctx.effect(() => () => { console.error('unloaded') }); console.error('up') }`,
      'slow.mjs': 'export const apply = () => new Promise(() => {})',
    })
    const child = start(['run'], { cwd: path })
    await printed(child, 'up')
    child.kill('SIGTERM')
    const { exitCode, stderr } = await child
    expect({ exitCode, stderr }).toEqual({ exitCode: 143, stderr: 'up\nunloaded' })
  })
})

describe('a call that nothing could end', () => {
  it('is named, once, and the process stays until it is told to go', async () => {
    const child = start(['run'], { cwd: composition(WITHOUT_HANDLE) })
    await printed(child, 'hangs')
    // Longer than it takes to look again.
    await new Promise((resolve) => setTimeout(resolve, 1300))
    child.kill('SIGINT')
    const { exitCode, stderr } = await child
    expect(exitCode).toBe(130)
    expect(stderr.split('\n')).toEqual([
      'agent "worker", turn 1, step 1: the call "call_1" of the tool "wait" hangs: nothing is left that could end it, no timer and no socket',
      'SIGINT: cancelling; a second one ends at once',
      'unloaded',
    ])
  })
})

describe('a call that does not stop', () => {
  it('is named while it is waited for, and given up on when its time is over', async () => {
    const child = start(['run', '--stop-limit', '500'], { cwd: composition(DEAF) })
    await printed(child, 'call: wait')
    child.kill('SIGINT')
    const { exitCode, stdout, stderr } = await child
    expect(exitCode).toBe(130)
    const call = 'agent "worker", turn 1, step 1: the call "call_1" of the tool "wait"'
    expect(stderr.split('\n').filter((line) => !/^ +at /.test(line))).toEqual([
      'SIGINT: cancelling; a second one ends at once',
      `waiting for ${call}: it has not stopped, and is given up on 500 ms after the cancel`,
      expect.stringMatching(
        /^error \[agent-loop\] agent "worker", turn 1: gave up on the tool "wait" \(call "call_1"\) 500 ms after the cancel/,
      ),
      expect.stringMatching(/^HarnessError: gave up on the tool "wait"/),
      'unloaded',
    ])
    expect(stdout).toContain('error [call_1] TOOL_OUTCOME_UNKNOWN: ')
  })
})

describe('standard output that cannot be written to', () => {
  const lines = (why: string): string => `standard output: ${why}: cancelling\nunloaded`

  it('stops the run, with one line and an exit code of its own: the reader has gone away', async () => {
    const child = start(['run'], { cwd: composition(A_WHILE) })
    await printed(child, 'call: wait')
    child.stdout.destroy()
    const { exitCode, stderr } = await child
    expect({ exitCode, stderr }).toEqual({ exitCode: 5, stderr: lines('write EPIPE') })
  })

  it('stops the run, with one line and an exit code of its own: the disk is full', async () => {
    const full = openSync('/dev/full', 'w')
    const { exitCode, stderr } = await start(['run'], { cwd: composition(UNTIL_ABORTED), stdout: full })
    closeSync(full)
    expect({ exitCode, stderr }).toEqual({ exitCode: 5, stderr: lines('ENOSPC: no space left on device, write') })
  })
})
