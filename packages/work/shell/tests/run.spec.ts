import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  codeOfRejection,
  isGone,
  leaving,
  longSleep,
  outcome,
  pidsOf,
  pushedClock,
  running,
  shellHost,
  spawned,
  timed,
  until,
} from './support.ts'

function folder(): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'loopguard-shell-test-')))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

describe('a request', () => {
  it('gets the defaults, an absolute folder, and is frozen', async () => {
    const { shell } = await shellHost({ cwd: '/usr' })
    const spec = shell.resolve({ command: 'true', workdir: 'bin/..' })
    expect(spec).toMatchObject({ command: 'true', workdir: '/usr', timeoutMs: 120_000 })
    expect(Object.isFrozen(spec)).toBe(true)
    expect(shell.resolve({ command: 'true' }).workdir).toBe('/usr')
    expect(shell.resolve({ command: 'true', workdir: '/etc' }).workdir).toBe('/etc')
  })

  it('without a configured folder runs in that of the process', async () => {
    const { shell } = await shellHost()
    expect((await shell.run({ command: 'pwd -P' })).stdout).toBe(`${realpathSync(process.cwd())}\n`)
  })

  it('above maxTimeoutMs is clamped in silence', async () => {
    const { shell } = await shellHost({ maxTimeoutMs: 500 })
    expect([undefined, 499, 500, 501, 1e300].map((timeoutMs) => shell.resolve({ command: 'true', timeoutMs }).timeoutMs)).toEqual([
      500, 499, 500, 500, 500,
    ])
  })

  it.each([0, -1, Number.NaN, '5' as never, Infinity])('with the timeout %s is refused, and says so', async (timeoutMs) => {
    const { shell } = await shellHost()
    expect(() => shell.resolve({ command: 'true', timeoutMs })).toThrow(
      expect.objectContaining({
        code: 'TIMEOUT_OUT_OF_RANGE',
        message: expect.stringContaining('timeoutMs must be a positive finite number'),
      }),
    )
    expect(await codeOfRejection(() => shell.run({ command: 'true', timeoutMs }))).toBe('TIMEOUT_OUT_OF_RANGE')
  })

  it.each([
    ['', 'is empty'],
    [' \n\t', 'is empty'],
    ['echo a\0b', 'holds a NUL at index 6'],
    [5 as never, 'must be text, got number'],
  ])('with the command %j is refused before anything is spawned', async (command, why) => {
    const ctx = await shellHost()
    const heard = vi.fn<() => void>()
    ctx.on('shell/spawn', heard)
    await expect(ctx.shell.run({ command })).rejects.toMatchObject({ code: 'BAD_COMMAND', message: expect.stringContaining(why) })
    expect(() => ctx.shell.start({ command })).toThrow(expect.objectContaining({ code: 'BAD_COMMAND' }))
    expect(heard).not.toHaveBeenCalled()
  })

  it('names a bad folder before anything is spawned', async () => {
    const ctx = await shellHost()
    const file = join(folder(), 'file')
    writeFileSync(file, '')
    const heard = vi.fn<() => void>()
    ctx.on('shell/spawn', heard)
    for (const [workdir, why] of [
      [file, `must be a folder, "${file}" is a file`],
      ['/nowhere/at all', 'must be a folder, "/nowhere/at all" does not exist'],
      [5 as never, 'must be text, got number'],
    ] as const) {
      await expect(ctx.shell.run({ command: 'true', workdir })).rejects.toMatchObject({
        code: 'BAD_WORKDIR',
        message: `shell: \`workdir\` ${why}`,
      })
    }
    expect(heard).not.toHaveBeenCalled()
  })

  it('that bash cannot be given is SHELL_SPAWN_FAILED, and so is a bash that is not there', async () => {
    const { shell } = await shellHost({ cwd: folder() })
    const command = `: ${'x'.repeat(3_000_000)}`
    expect(await codeOfRejection(() => shell.run({ command }))).toBe('SHELL_SPAWN_FAILED')
    expect(() => shell.start({ command })).toThrow(expect.objectContaining({ code: 'SHELL_SPAWN_FAILED' }))
    vi.stubEnv('PATH', '/nowhere')
    onTestFinished(() => void vi.unstubAllEnvs())
    await expect(shell.run({ command: 'true' })).rejects.toMatchObject({
      code: 'SHELL_SPAWN_FAILED',
      message: expect.stringContaining('bash could not be started in'),
    })
    const process = shell.start({ command: 'true' })
    expect(await codeOfRejection(() => process.done)).toBe('SHELL_SPAWN_FAILED')
    expect(process.status).toBe('exited')
  })
})

describe('a command', () => {
  it('gives back what it printed and how it ended', async () => {
    const { shell } = await shellHost()
    const result = await shell.run({ command: 'echo out; echo err >&2; exit 3' })
    expect(result).toEqual({ stdout: 'out\n', stderr: 'err\n', exitCode: 3, signal: null, timedOut: false, aborted: false, truncated: [] })
    expect(Object.isFrozen(result)).toBe(true)
    expect(outcome(await shell.run({ command: 'kill -9 $$' }))).toEqual([null, 'SIGKILL', false, false])
  })

  it('is a bash script with no input, no terminal, and a process group of its own', async () => {
    const { shell } = await shellHost()
    const script =
      'read -r x; echo "read $?"; [[ -t 1 ]]; echo "tty $?"; cut -d" " -f5 /proc/$$/stat; echo $$; echo $NO_COLOR $TERM $PAGER $GIT_PAGER'
    const [read, tty, group, pid, plain] = (await shell.run({ command: script })).stdout.split('\n')
    expect([read, tty, plain]).toEqual(['read 1', 'tty 1', '1 dumb cat cat'])
    expect(group).toBe(pid)
    expect(Number(pid)).not.toBe(process.pid)
  })

  it('that was aborted beforehand never runs', async () => {
    const ctx = await shellHost()
    const heard = vi.fn<() => void>()
    ctx.on('shell/spawn', heard)
    expect(outcome(await ctx.shell.run({ command: 'true', signal: AbortSignal.abort() }))).toEqual([null, null, false, true])
    expect(heard).not.toHaveBeenCalled()
  })

  it.each(['timeout', 'abort'])('of several causes of its end the first counts: the %s', async (first) => {
    const { shell } = await shellHost({ graceMs: 60_000 })
    pushedClock()
    const controller = new AbortController()
    const sleep = longSleep()
    const command = shell.run({ command: `trap '' TERM; ${sleep}`, timeoutMs: 50_000, signal: controller.signal })
    await until(() => running(sleep) === 1, 'it runs')
    if (first === 'abort') controller.abort()
    vi.advanceTimersByTime(50_000)
    controller.abort()
    vi.advanceTimersByTime(60_000)
    expect(outcome(await command)).toEqual([null, 'SIGKILL', first === 'timeout', first === 'abort'])
  })

  it('its own end counts too, and an abort then does not wait for what holds the output', async () => {
    const ctx = await shellHost({ graceMs: 60_000 })
    const controller = new AbortController()
    const sleep = longSleep()
    const started = spawned(ctx)
    const command = ctx.shell.run({ command: `${leaving(sleep)}; exit 7`, signal: controller.signal })
    const pid = await started
    await until(() => isGone(pid) && running(sleep) === 1, 'the leader is gone')
    controller.abort()
    const { ms, value } = await timed(() => command)
    expect(ms).toBeLessThan(20_000)
    expect(outcome(value)).toEqual([7, null, false, false])
    for (const left of pidsOf(sleep)) process.kill(left, 'SIGKILL')
  })

  it('leaves nothing on its signal, nor on the process', async () => {
    const { shell } = await shellHost()
    const { signal } = new AbortController()
    const add = vi.spyOn(signal, 'addEventListener')
    const remove = vi.spyOn(signal, 'removeEventListener')
    const before = process.listenerCount('exit')
    await Promise.all([1, 2, 3].map(() => shell.run({ command: 'true', signal })))
    expect(add.mock.calls.length).toBeGreaterThan(0)
    expect(remove.mock.calls.length).toBe(add.mock.calls.length)
    expect(process.listenerCount('exit')).toBe(before)
  })
})
