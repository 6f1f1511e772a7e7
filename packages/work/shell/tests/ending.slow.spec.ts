import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Context } from '@deepseek-ai/cordis'
import type { ShellProcess, ShellResult } from '@loopguard/shell'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { codeOfRejection, leaving, longSleep, outcome, pidsOf, program, pushedClock, running, shellHost, timed, until } from './support.ts'

describe('a timeout', () => {
  it('ends the whole group, and comes back within graceMs and a second', async () => {
    const { shell } = await shellHost({ graceMs: 3000 })
    const [one, two] = [longSleep(), longSleep()]
    const { ms, value } = await timed(() => shell.run({ command: `${one} & ${two}`, timeoutMs: 200 }))
    expect(outcome(value)).toEqual([null, 'SIGTERM', true, false])
    expect(ms).toBeLessThan(200 + 3000 + 1000)
    expect([running(one), running(two)]).toEqual([0, 0])
  })

  it('keeps what was printed, and is followed by SIGKILL when the group ignores it', async () => {
    const { shell } = await shellHost({ graceMs: 60_000 })
    pushedClock()
    const sleep = longSleep()
    const command = shell.run({ command: `trap '' TERM; echo up; ${sleep}; echo not here`, timeoutMs: 60_000 })
    await until(() => running(sleep) === 1, 'it runs')
    vi.advanceTimersByTime(60_000)
    expect(running(sleep)).toBe(1)
    vi.advanceTimersByTime(60_000)
    expect(await command).toMatchObject({ stdout: 'up\n', signal: 'SIGKILL', timedOut: true })
    expect(running(sleep)).toBe(0)
  })

  it('lets a process that the leader has left clean up within graceMs', async () => {
    const { shell } = await shellHost({ graceMs: 60_000 })
    pushedClock()
    const sleep = longSleep()
    const cleaner = `(trap 'sleep 0.3; echo cleaned; exit' TERM; ${sleep} & wait) & wait`
    const command = shell.run({ command: cleaner, timeoutMs: 60_000 })
    await until(() => running(sleep) === 1, 'it runs')
    vi.advanceTimersByTime(60_000)
    expect(await command).toMatchObject({ stdout: 'cleaned\n', signal: 'SIGTERM', timedOut: true })
  })

  it('what the command exits with on SIGTERM is told beside it', async () => {
    const { shell } = await shellHost({ graceMs: 60_000 })
    pushedClock()
    const sleep = longSleep()
    const command = shell.run({ command: `trap 'exit 5' TERM; ${sleep} & wait`, timeoutMs: 60_000 })
    await until(() => running(sleep) === 1, 'it runs')
    vi.advanceTimersByTime(60_000)
    expect(outcome(await command)).toEqual([5, null, true, false])
  })
})

describe('what a command leaves behind', () => {
  it('in its group is killed when it settles, and holds it up no longer than a moment', async () => {
    const { shell } = await shellHost({ graceMs: 60_000 })
    const [piped, silent] = [longSleep(), longSleep()]
    const { ms, value } = await timed(() => shell.run({ command: `${piped} & ${silent} >/dev/null 2>&1 & echo done` }))
    expect([value.stdout, value.exitCode, running(piped), running(silent)]).toEqual(['done\n', 0, 0, 0])
    expect(ms).toBeLessThan(20_000)
  })

  it('may finish writing what it has begun', async () => {
    const { shell } = await shellHost()
    // The moment that it has for that is a matter of timers; here they stand still.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    expect((await shell.run({ command: 'exec > >(read -r line; sleep 0.02; echo "got $line"); echo it' })).stdout).toBe('got it\n')
  })

  it('outside of its group delays the result by graceMs at most', async () => {
    const { shell } = await shellHost()
    const sleep = longSleep()
    const { ms, value } = await timed(() => shell.run({ command: `${leaving(sleep)}; echo done` }))
    expect(value).toMatchObject({ stdout: 'done\n', exitCode: 0, timedOut: false })
    expect(ms).toBeLessThan(20_000)
    await until(() => running(sleep) === 1, 'the descendant runs: only a sandbox of the system could have caught it')
    for (const pid of pidsOf(sleep)) process.kill(pid, 'SIGKILL')
  })

  it('outside of its group delays a timeout by graceMs at most', async () => {
    const { shell } = await shellHost()
    pushedClock()
    const [left, stayed] = [longSleep(), longSleep()]
    const command = shell.run({ command: `${leaving(left)}; ${stayed}`, timeoutMs: 60_000 })
    await until(() => running(stayed) === 1, 'both run')
    vi.advanceTimersByTime(60_000)
    const { ms, value } = await timed(() => command)
    expect([value.timedOut, running(stayed)]).toEqual([true, 0])
    expect(ms).toBeLessThan(20_000)
    await until(() => running(left) === 1, 'the descendant runs')
    for (const pid of pidsOf(left)) process.kill(pid, 'SIGKILL')
  })
})

/** Starts a command through a plugin of its own, and waits until it runs. */
async function owned(ctx: Context, command: (sleep: string) => string) {
  const sleep = longSleep()
  let process!: ShellProcess
  let result!: Promise<ShellResult>
  const fiber = await ctx.plugin({
    name: 'owner',
    inject: ['shell'],
    apply(inner: Context) {
      process = inner.shell.start({ command: command(sleep) })
      result = inner.shell.run({ command: command(sleep) })
      result.catch(() => {})
    },
  })
  await until(() => running(sleep) === 2, 'both run')
  return { fiber, sleep, process, result }
}

describe('nothing outlives its owner', () => {
  it.each(['the plugin', 'the service'])('unloading %s ends its commands and waits until they are gone', async (what) => {
    const ctx = await shellHost()
    const { fiber, sleep, process, result } = await owned(ctx, (line) => `trap '' TERM; ${line}`)
    if (what === 'the plugin') await fiber.dispose()
    else await ctx.fiber.dispose()
    expect([running(sleep), process.status]).toEqual([0, 'exited'])
    expect(await codeOfRejection(() => result)).toBe('SHELL_CLOSED')
    expect(await process.done).toEqual({ exitCode: null, signal: 'SIGKILL', killed: true })
  })

  it('an owner that is gone, and a service that is gone, run nothing more', async () => {
    const ctx = await shellHost()
    let inner!: Context
    const fiber = await ctx.plugin({ name: 'owner', apply: (own: Context) => void (inner = own) })
    await fiber.dispose()
    const { shell } = ctx
    expect(await codeOfRejection(() => shell.run({ command: 'true', owner: inner }))).toBe('SHELL_CLOSED')
    await ctx.fiber.dispose()
    expect(await codeOfRejection(() => shell.run({ command: 'true' }))).toBe('SHELL_CLOSED')
    expect(() => shell.start({ command: 'true' })).toThrow(expect.objectContaining({ code: 'SHELL_CLOSED' }))
  })

  it.each(['process.exit', 'an uncaught error'])('%s of the host kills every group at once', async (how) => {
    const sleep = longSleep()
    const child = spawn(process.execPath, [...program('exits.ts'), how, `trap '' TERM; ${sleep}`], { stdio: ['pipe', 'pipe', 'ignore'] })
    const closed = once(child, 'close')
    await until(() => running(sleep) === 2, 'both commands run')
    child.stdin.end('go')
    await closed
    await until(() => running(sleep) === 0, 'both are gone')
    expect(child.exitCode).toBe(how === 'process.exit' ? 0 : 1)
  })
})
