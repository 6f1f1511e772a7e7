import type { Agent } from '@loopguard/agent-loop'
import * as repeatToolReminder from '@loopguard/repeat-tool-reminder'
import * as bash from '@loopguard/shell/bash'
import * as timeoutPolicy from '@loopguard/timeout-policy'
import Shell from '@loopguard/shell'
import { createHarness, userMessage } from '@loopguard/testkit'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { bashHost, call, GRACE_MS, longSleep, running, textOf, timed, until } from './support.ts'

const args = (command: string, more: object = {}): object => ({ command, description: 'a test', ...more })

describe('what the model reads of a command', () => {
  it.each([
    ['echo out', 'out'],
    ['printf out', 'out'],
    ['printf "a\\n\\n"', 'a\n'],
    ['true', '(no output)'],
    ['echo', '(no output)'],
    ['echo err >&2', '[stderr]\nerr'],
    ['echo err >&2; echo out', 'out\n[stderr]\nerr'],
    ['exit 3', '(no output)\n[exit code: 3]'],
    ['echo out; echo err >&2; exit 1', 'out\n[stderr]\nerr\n[exit code: 1]'],
    ['echo out; kill -TERM $$', 'out\n[killed by signal: SIGTERM]'],
    ['no-such-command-here', '[stderr]\nbash: line 1: no-such-command-here: command not found\n[exit code: 127]'],
  ])('%s', async (command, text) => {
    const { ctx } = await bashHost()
    const result = await call(ctx, 'bash', args(command))
    expect([result.isError, textOf(result)]).toEqual([false, text])
  })

  it('names the file of what is not shown, one for each stream', async () => {
    const { ctx } = await bashHost({ shell: { maxOutputBytes: 4 } })
    expect(textOf(await call(ctx, 'bash', args('echo 12345; echo 67890 >&2; exit 2')))).toMatch(
      /^345\n\[stderr\]\n890\n\[output truncated; full output: \/.+\/1\.stdout\]\n\[output truncated; full output: \/.+\/2\.stderr\]\n\[exit code: 2\]$/,
    )
  })

  it('says where a file was cut, and why there is none', async () => {
    const { ctx } = await bashHost({ shell: { maxOutputBytes: 4, maxSpillBytes: 6 } })
    expect(textOf(await call(ctx, 'bash', args('echo 12345678')))).toMatch(/^678\n\[full output cut at 6 bytes: \/.+\/1\.stdout\]$/)
    await ctx.fiber.dispose()
    vi.stubEnv('TMPDIR', '/nowhere')
    const other = await bashHost({ shell: { maxOutputBytes: 4 } })
    const text = textOf(await call(other.ctx, 'bash', args('echo 12345678')))
    vi.unstubAllEnvs()
    expect(text).toMatch(/^678\n\[output truncated; the full output could not be kept: ENOENT.+\]$/)
  })

  it('runs where and as long as it is asked to', async () => {
    const { ctx } = await bashHost()
    expect(textOf(await call(ctx, 'bash', args('pwd', { workdir: '/usr' })))).toBe('/usr')
    expect(textOf(await call(ctx, 'bash', args('sleep 30', { timeoutMs: 100 })))).toBe(
      '(no output)\n[timed out after 100ms]\n[killed by signal: SIGTERM]',
    )
  })

  it('runs in the folder of its agent, which a relative workdir starts at', async () => {
    const harness = await bashHost({ shell: { cwd: '/etc' } })
    const { ctx } = harness
    const agent = harness.agent({ cwd: '/usr' })
    expect(textOf(await call(ctx, 'bash', args('pwd'), { agent }))).toBe('/usr')
    expect(textOf(await call(ctx, 'bash', args('pwd', { workdir: 'bin/..' }), { agent }))).toBe('/usr')
    expect(textOf(await call(ctx, 'bash', args('pwd', { workdir: '/' }), { agent }))).toBe('/')
    expect(textOf(await call(ctx, 'bash', args('pwd')))).toBe('/etc')
  })

  it('is told the limits in the description of the tool, and no timeout of the tool itself', async () => {
    const { ctx } = await bashHost({ shell: { timeoutMs: 1234, maxTimeoutMs: 5678, maxOutputBytes: 999 } })
    expect(ctx.tools.get('bash')?.timeoutMs).toBeUndefined()
    const { description } = ctx.tools.schemas()[0] ?? {}
    for (const limit of ['1234ms', 'at most 5678', 'last 999 bytes']) expect(description).toContain(limit)
  })
})

describe('bad input', () => {
  it.each([
    [args(''), 'INVALID_ARGS', 'arguments.command'],
    [args('  '), 'BAD_COMMAND', 'shell: `command` is empty'],
    [args('a\0b'), 'BAD_COMMAND', 'holds a NUL at index 1'],
    [args('true', { workdir: '/etc/passwd' }), 'BAD_WORKDIR', '"/etc/passwd" is a file'],
    [args('true', { timeoutMs: 'soon' }), 'INVALID_ARGS', 'arguments.timeoutMs must be number, got the text "soon"'],
    [args('true', { timeoutMs: 0 }), 'INVALID_ARGS', 'arguments.timeoutMs must be > 0, got 0'],
    [args('true', { run_in_background: true }), 'INVALID_ARGS', 'must not have the property "run_in_background"'],
    [{ command: 'true' }, 'INVALID_ARGS', 'must have the property "description"'],
  ])('%j is refused, and says what is wrong', async (input, code, words) => {
    const { ctx } = await bashHost()
    const result = await call(ctx, 'bash', input)
    expect(result.isError && result.error.info?.code).toBe(code)
    expect(textOf(result)).toContain(words)
  })
})

const bashCall = (command: string, more: object = {}) => ({ calls: [{ name: 'bash', arguments: args(command, more) }] })

function results({ session }: Agent): readonly { isError: boolean; text: string; code: string | undefined }[] {
  return session.events.flatMap((event) => {
    if (event.type !== 'tool/result') return []
    const [block] = event.data.message.content
    return [{ isError: block.isError === true, text: textOf(block), code: event.data.error?.code }]
  })
}

describe('beside the guards', () => {
  it('a command that hangs is ended by the shell, not by timeout-policy', async () => {
    const harness = await bashHost({
      script: [bashCall(`${longSleep()} & ${longSleep()}`, { timeoutMs: 200 }), { text: 'done' }],
      plugins: [timeoutPolicy, repeatToolReminder],
    })
    const agent = harness.agent()
    const { ms } = await timed(() => harness.say(agent, 'go'))
    expect(results(agent)).toEqual([
      { isError: false, text: '(no output)\n[timed out after 200ms]\n[killed by signal: SIGTERM]', code: undefined },
    ])
    expect(ms).toBeLessThan(20_000)
  })

  it('a signal of a wrapper ends it too, and its result is the wrapper’s to replace', async () => {
    const { ctx } = await bashHost()
    ctx.on('tools/execute', async (exec, next) => {
      exec.signal = AbortSignal.timeout(100)
      return next()
    })
    const result = await call(ctx, 'bash', args('sleep 30'))
    expect(result).toMatchObject({ isError: true, error: { message: 'tool call aborted', info: { name: 'AbortError', code: 'ABORTED' } } })
  })
})

describe('an agent', () => {
  it('that is cancelled has its command ended before it is idle: ABORTED', async () => {
    const sleep = longSleep()
    const harness = await bashHost({ script: [bashCall(`trap '' TERM; echo up; ${sleep} & ${sleep}`)] })
    const agent = harness.agent()
    agent.followup(userMessage('go'))
    await until(() => running(sleep) === 2, 'both run')
    agent.cancel()
    await agent.whenIdle()
    expect(running(sleep)).toBe(0)
    expect(results(agent)).toEqual([{ isError: true, text: 'Error: tool call aborted', code: 'ABORTED' }])
  })

  it('that is disposed of in the middle of a command leaves nothing', async () => {
    const sleep = longSleep()
    const harness = await bashHost({ script: [bashCall(sleep)] })
    const agent = harness.agent()
    agent.followup(userMessage('go'))
    await until(() => running(sleep) === 1, 'it runs')
    await agent.dispose()
    expect(running(sleep)).toBe(0)
  })

  it('unloading the shell in the middle of a command ends it with an error that says so, and takes the tool away', async () => {
    const sleep = longSleep()
    const harness = await createHarness({ script: [bashCall(sleep), { text: 'done' }] })
    onTestFinished(() => harness.dispose())
    const service = await harness.ctx.plugin(Shell, { graceMs: GRACE_MS })
    await harness.ctx.plugin(bash)
    const agent = harness.agent()
    agent.followup(userMessage('go'))
    await until(() => running(sleep) === 1, 'it runs')
    await service.dispose()
    expect(running(sleep)).toBe(0)
    await agent.whenIdle()
    expect(results(agent)).toMatchObject([{ isError: true, code: 'SHELL_CLOSED' }])
    expect(harness.ctx.tools.get('bash')).toBeUndefined()
  })
})
