import type { Agent } from '@loopguard/agent-loop'
import Shell, { type Config } from '@loopguard/shell'
import * as persistentBash from '@loopguard/shell/persistent-bash'
import * as shellInvariant from '@loopguard/shell/invariant'
import { createHarness, type Harness, type HarnessOptions, userMessage } from '@loopguard/testkit'
import * as timeoutPolicy from '@loopguard/timeout-policy'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { call, GRACE_MS, isGone, longSleep, pushedClock, running, textOf, until } from './support.ts'

interface Options extends HarnessOptions {
  readonly shell?: Partial<Config>
  readonly persistent?: Partial<persistentBash.Config>
}

async function host({ shell, persistent, plugins = [], ...options }: Options = {}): Promise<Harness> {
  const mine = [[Shell, { graceMs: GRACE_MS, ...shell }] as const, shellInvariant, [persistentBash, persistent] as const]
  const harness = await createHarness({ ...options, plugins: [...plugins, ...mine] })
  onTestFinished(() => harness.dispose())
  return harness
}

const run = async (harness: Harness, agent: Agent, command: string): Promise<string> =>
  textOf(await call(harness.ctx, 'persistent_bash', { command }, { agent }))

describe('persistent_bash', () => {
  it('starts in the folder of its agent', async () => {
    const harness = await host({ shell: { cwd: '/etc' } })
    expect([await run(harness, harness.agent({ cwd: '/usr' }), 'pwd'), await run(harness, harness.agent(), 'pwd')]).toEqual([
      '/usr',
      '/etc',
    ])
  })

  it('is one shell: what a command does to it, lasts', async () => {
    const harness = await host({ shell: { cwd: '/usr' } })
    const agent = harness.agent()
    const lines = [
      'pwd',
      'cd /etc; export A="it\'s" B=2; f() { echo "f: $1"; }; set -o pipefail; declare C=3',
      'pwd; echo "$A $B $C"; f x; false | true; echo $?; bash -c \'echo $A\'',
      'exec 5< <(echo kept)',
      'cat <&5',
    ]
    const texts: string[] = []
    for (const line of lines) texts.push(await run(harness, agent, line))
    expect(texts).toEqual(['/usr', '(no output)', "/etc\nit's 2 3\nf: x\n1\nit's", '(no output)', 'kept'])
  })

  it('tells the exit code that is not 0, both streams as they come, and reads nothing', async () => {
    const harness = await host()
    const agent = harness.agent()
    expect(await run(harness, agent, 'echo one; echo two >&2; echo three; (exit 3)')).toBe('one\ntwo\nthree\n[exit code: 3]')
    expect(await run(harness, agent, 'false')).toBe('(no output)\n[exit code: 1]')
    expect(await run(harness, agent, 'read -r x; echo "read: $?"; cat | wc -c')).toBe('read: 1\n0')
    expect(await run(harness, agent, 'printf "no line break"')).toBe('no line break')
  })

  it('survives what no script should be: open quotes, stray words, the very text of its own commands', async () => {
    const harness = await host()
    const agent = harness.agent()
    expect(await run(harness, agent, "echo 'open")).toMatch(/unexpected EOF while looking for matching `''\n\[exit code: [12]\]$/)
    expect(await run(harness, agent, 'if true')).toMatch(/syntax error.*\n\[exit code: [12]\]$/)
    expect(await run(harness, agent, 'break; return 4')).toContain('[exit code: ')
    expect(await run(harness, agent, `echo '"'; echo "'"; # it's a comment`)).toBe(`"\n'`)
    expect(await run(harness, agent, "cat <<'END'\nit's\n$HOME\nEND")).toBe("it's\n$HOME")
    expect(await run(harness, agent, 'echo 0 >&199 || echo "no such descriptor"')).toContain('no such descriptor')
    expect(await run(harness, agent, "printf '0\\n1\\n'")).toBe('0\n1')
    expect(await run(harness, agent, 'ls /proc/$BASHPID/fd | grep -c 199; echo ok')).toBe('0\nok')
    expect(await run(harness, agent, 'printf a; exec 3>&1 4>&1; echo b >&3; exec 3>&- 4>&-')).toBe('ab')
  })

  it('is a shell for each agent', async () => {
    const harness = await host()
    const [a, b] = [harness.agent(), harness.agent()]
    await run(harness, a, 'export WHO=a; cd /etc')
    expect(await run(harness, b, 'echo "${WHO-nobody} $PWD"')).toBe(`nobody ${process.cwd()}`)
    expect(await run(harness, a, 'echo "$WHO $PWD"')).toBe('a /etc')
    expect((await run(harness, a, 'echo $$')) === (await run(harness, b, 'echo $$'))).toBe(false)
  })

  it('sees no credentials', async () => {
    vi.stubEnv('SOME_TOKEN', 'secret')
    onTestFinished(() => void vi.unstubAllEnvs())
    const harness = await host()
    expect(await run(harness, harness.agent(), 'printenv | grep -c secret; echo $TERM')).toBe('0\ndumb')
  })

  it('keeps the end of long output, in whole characters, and none of it for the next call', async () => {
    const harness = await host({ persistent: { maxOutputChars: 5 } })
    const agent = harness.agent()
    const note = '[output truncated; the last 5 characters are shown]'
    expect(await run(harness, agent, 'seq 1 100000')).toBe(`00000\n${note}`)
    expect(await run(harness, agent, `printf '😀%.0s' {1..7}; exit_code() { return 2; }; exit_code`)).toBe(
      `😀😀😀😀😀\n${note}\n[exit code: 2]`,
    )
    expect(await run(harness, agent, 'echo 12345')).toBe('12345')
  })

  it('gives each call what it printed, however much and however fast', async () => {
    const harness = await host({ persistent: { maxOutputChars: 100_000 } })
    const agent = harness.agent()
    for (let size = 1; size < 100_000; size *= 7) {
      const text = await run(harness, agent, `head -c ${size} /dev/zero | tr '\\0' x; echo end of ${size} >&2`)
      expect(text).toBe(`${'x'.repeat(size)}end of ${size}`)
    }
  })
})

describe('the end of a persistent shell', () => {
  it('is told when a command exits, with its code; the next call has a fresh one', async () => {
    const harness = await host()
    const agent = harness.agent()
    await run(harness, agent, 'export A=1')
    expect(await run(harness, agent, 'echo bye; exit 7')).toBe('bye\n[shell exited with code 7; the next call starts a fresh shell]')
    expect(await run(harness, agent, 'echo "${A-unset}"')).toBe('unset')
    expect(await run(harness, agent, 'exec true')).toBe('(no output)\n[shell exited with code 0; the next call starts a fresh shell]')
    expect(await run(harness, agent, 'kill -9 $$')).toBe(
      '(no output)\n[shell was killed by signal SIGKILL; the next call starts a fresh shell]',
    )
  })

  it('between two calls is told with the next, which runs', async () => {
    const harness = await host()
    const agent = harness.agent()
    const pid = Number(await run(harness, agent, 'echo $$'))
    process.kill(pid, 'SIGKILL')
    await until(() => isGone(pid), 'it is gone')
    expect(await run(harness, agent, 'echo here')).toBe(
      '[the shell was killed by signal SIGKILL after the last call; this one started a fresh shell]\nhere',
    )
  })

  it('by a timeout keeps what was printed, and is a success, also with timeout-policy', async () => {
    const harness = await host({ persistent: { timeoutMs: 60_000 }, plugins: [timeoutPolicy] })
    const agent = harness.agent()
    pushedClock()
    const sleep = longSleep()
    const calling = call(harness.ctx, 'persistent_bash', { command: `echo up; ${sleep} & ${sleep}` }, { agent })
    await until(() => running(sleep) === 2, 'both run')
    vi.advanceTimersByTime(60_000)
    const result = await calling
    expect([result.isError, textOf(result), running(sleep)]).toEqual([
      false,
      'up\n[timed out after 60000ms; the next call starts a fresh shell]',
      0,
    ])
    expect(await run(harness, agent, 'echo again')).toBe('again')
    expect(harness.ctx.tools.get('persistent_bash')?.timeoutMs).toBeUndefined()
  })

  it('takes background children along, which have lived until then, and whose output comes with the next call', async () => {
    const harness = await host()
    const agent = harness.agent()
    const sleep = longSleep()
    await run(harness, agent, `${sleep} & (sleep 0.2; echo from the background) &`)
    const texts = new Set<string>()
    while (texts.size < 2) texts.add(await run(harness, agent, 'echo next'))
    // Before what the call prints itself, or in the middle of it: it comes when it comes.
    const [alone, both = ''] = texts
    expect([alone, both.split('\n').toSorted(), running(sleep)]).toEqual(['next', ['from the background', 'next'], 1])
    await run(harness, agent, 'exit')
    expect(running(sleep)).toBe(0)
  })

  it.each(['the agent', 'the plugin', 'the service'])('comes with that of %s', async (what) => {
    const harness = await createHarness()
    onTestFinished(() => harness.dispose())
    const service = await harness.ctx.plugin(Shell, { graceMs: GRACE_MS })
    const plugin = await harness.ctx.plugin(persistentBash)
    const agent = harness.agent()
    const sleep = longSleep()
    await run(harness, agent, `${sleep} & trap '' TERM`)
    await until(() => running(sleep) === 1, 'it runs')
    await (what === 'the agent' ? agent : what === 'the plugin' ? plugin : service).dispose()
    expect(running(sleep)).toBe(0)
  })

  it('in the middle of a command is SHELL_CLOSED for that command', async () => {
    const harness = await createHarness()
    onTestFinished(() => harness.dispose())
    const service = await harness.ctx.plugin(Shell, { graceMs: GRACE_MS })
    await harness.ctx.plugin(persistentBash)
    const sleep = longSleep()
    const calling = call(harness.ctx, 'persistent_bash', { command: sleep }, { agent: harness.agent() })
    await until(() => running(sleep) === 1, 'it runs')
    await service.dispose()
    expect(await calling).toMatchObject({ isError: true, error: { info: { code: 'SHELL_CLOSED' } } })
  })
})

describe('calls of one agent', () => {
  it('follow one another; a queued one that is aborted never runs, and does not wait', async () => {
    const harness = await host()
    const agent = harness.agent()
    const controller = new AbortController()
    const { signal } = controller
    const order: string[] = []
    const first = call(harness.ctx, 'persistent_bash', { command: 'sleep 0.5; echo first; A=1' }, { agent }).then((result) =>
      order.push(textOf(result)),
    )
    const second = call(harness.ctx, 'persistent_bash', { command: 'A=2; echo second' }, { agent, signal }).then((result) =>
      order.push(textOf(result)),
    )
    const third = call(harness.ctx, 'persistent_bash', { command: 'echo third $A' }, { agent }).then((result) => order.push(textOf(result)))
    // A call may let go of the event loop once before it is dispatched.
    for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve))
    controller.abort()
    await Promise.all([first, second, third])
    expect(order).toEqual(['Error: tool call aborted', 'first', 'third 1'])
  })

  it('that are aborted beforehand never run', async () => {
    const harness = await host()
    const agent = harness.agent()
    const spawned = vi.fn<() => void>()
    harness.ctx.on('shell/spawn', spawned)
    const result = await call(harness.ctx, 'persistent_bash', { command: 'true' }, { agent, signal: AbortSignal.abort() })
    expect([result.isError && result.error.info?.code, spawned.mock.calls.length]).toEqual(['ABORTED_BEFORE_DISPATCH', 0])
  })

  it('that are cancelled are ABORTED, and end the shell before the agent is idle', async () => {
    const sleep = longSleep()
    const harness = await host({
      script: [{ calls: [{ name: 'persistent_bash', arguments: { command: `A=1; trap '' TERM; ${sleep}` } }] }],
    })
    const agent = harness.agent()
    agent.followup(userMessage('go'))
    await until(() => running(sleep) === 1, 'it runs')
    agent.cancel()
    await agent.whenIdle()
    const result = agent.session.events.find(({ type }) => type === 'tool/result')?.data as { error?: { code: string } }
    expect([running(sleep), result.error?.code]).toEqual([0, 'ABORTED'])
    expect(await run(harness, agent, 'echo "${A-unset}"')).toBe('unset')
  })

  it('leave nothing on their signal', async () => {
    const harness = await host()
    const agent = harness.agent()
    const { signal } = new AbortController()
    const [add, remove] = [vi.spyOn(signal, 'addEventListener'), vi.spyOn(signal, 'removeEventListener')]
    for (let time = 0; time < 3; time++) await call(harness.ctx, 'persistent_bash', { command: 'true' }, { agent, signal })
    expect(remove.mock.calls.length).toBe(add.mock.calls.length)
  })
})

describe('bad input', () => {
  it.each([
    [{ command: '' }, 'INVALID_ARGS'],
    [{ command: ' ' }, 'BAD_COMMAND'],
    [{ command: 'a\0b' }, 'BAD_COMMAND'],
    [{ command: 'true', timeoutMs: 5 }, 'INVALID_ARGS'],
  ])('%j is refused with %s', async (args, code) => {
    const harness = await host()
    const result = await call(harness.ctx, 'persistent_bash', args, { agent: harness.agent() })
    expect(result.isError && result.error.info?.code).toBe(code)
  })

  it('a call without an agent is refused, and so is a shell that cannot be', async () => {
    const harness = await host({ shell: { cwd: '/nowhere' } })
    const codes = [
      await call(harness.ctx, 'persistent_bash', { command: 'true' }),
      await call(harness.ctx, 'persistent_bash', { command: 'true' }, { agent: harness.agent() }),
    ]
    expect(codes.map((result) => result.isError && result.error.info?.code)).toEqual(['SHELL_NO_AGENT', 'BAD_WORKDIR'])
    vi.stubEnv('PATH', '/nowhere')
    onTestFinished(() => void vi.unstubAllEnvs())
    const other = await host()
    const result = await call(other.ctx, 'persistent_bash', { command: 'true' }, { agent: other.agent() })
    expect(result.isError && result.error.info?.code).toBe('SHELL_SPAWN_FAILED')
  })

  it.each([
    [{ timeoutMs: 0 }, 'timeoutMs'],
    [{ maxOutputChars: 'all' }, 'maxOutputChars'],
    [{ maxOutputChar: 5 }, 'persistent-bash: unknown key `maxOutputChar`, did you mean `maxOutputChars`?'],
  ])('the configuration %j is refused, and the key named', async (config, words) => {
    const { ctx } = await host()
    await expect(Promise.resolve(ctx.plugin(persistentBash, config as never))).rejects.toThrow(words)
  })
})
