import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Context } from '@deepseek-ai/cordis'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { ShellResult } from '@loopguard/shell'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { isGone, longSleep, programLine, shellHost, spawned, until } from './support.ts'

const hashOf = (data: Buffer | string): string => createHash('sha256').update(data).digest('hex')

describe('output that is longer than maxOutputBytes', () => {
  it('keeps its end; the whole goes to a file a stream that this user alone can read', async () => {
    const { shell } = await shellHost({ maxOutputBytes: 1000 })
    const result = await shell.run({ command: 'seq 1 1000; seq 1001 1500 >&2' })
    const [out, err] = [1, 1001].map((from, index) =>
      Array.from({ length: index === 0 ? 1000 : 500 }, (_, at) => `${from + at}\n`).join(''),
    )
    expect([result.stdout, result.stderr]).toEqual([out?.slice(-1000), err?.slice(-1000)])
    expect(result.truncated.map(({ stream }) => stream)).toEqual(['stdout', 'stderr'])
    for (const [index, { file = '', cutAt, fault }] of result.truncated.entries()) {
      expect([cutAt, fault]).toEqual([undefined, undefined])
      expect(readFileSync(file, 'utf8')).toBe([out, err][index])
      expect([statSync(file).mode & 0o777, statSync(dirname(file)).mode & 0o777]).toEqual([0o600, 0o700])
    }
  })

  it('of one stream says nothing of the other, and one that just fits has no file', async () => {
    const { shell } = await shellHost({ maxOutputBytes: 10 })
    const result = await shell.run({ command: 'printf 0123456789; printf 0123456789x >&2' })
    expect([result.stdout, result.stderr, result.truncated.map(({ stream }) => stream)]).toEqual(['0123456789', '123456789x', ['stderr']])
  })

  it('beyond maxSpillBytes the file ends, at a whole character, and says where', async () => {
    const { shell } = await shellHost({ maxOutputBytes: 9, maxSpillBytes: 20 })
    const { stdout, truncated } = await shell.run({ command: `printf '€%.0s' {1..100}` })
    expect(stdout).toBe('€€€')
    expect(truncated).toEqual([{ stream: 'stdout', file: expect.any(String), cutAt: 18 }])
    expect(readFileSync(truncated[0]?.file ?? '', 'utf8')).toBe('€€€€€€')
  })

  it('its file goes with the owner of the command, and the folder with the service', async () => {
    const ctx = await shellHost({ maxOutputBytes: 10 })
    let file = ''
    const fiber = await ctx.plugin({
      name: 'owner',
      inject: ['shell'],
      async apply(inner: Context) {
        file = (await inner.shell.run({ command: 'seq 1 100' })).truncated[0]?.file ?? ''
      },
    })
    const other = (await ctx.shell.run({ command: 'seq 1 100' })).truncated[0]?.file ?? ''
    expect([existsSync(file), existsSync(other)]).toEqual([true, true])
    await fiber.dispose()
    expect([existsSync(file), existsSync(other)]).toEqual([false, true])
    await ctx.fiber.dispose()
    expect(existsSync(dirname(other))).toBe(false)
  })

  it('that cannot be kept is told, and is no failure: there is no place for its file', async () => {
    const { shell } = await shellHost({ maxOutputBytes: 10 })
    vi.stubEnv('TMPDIR', '/nowhere')
    onTestFinished(() => void vi.unstubAllEnvs())
    const { stdout, truncated, exitCode } = await shell.run({ command: 'seq 1 100' })
    expect([stdout, exitCode]).toEqual(['98\n99\n100\n', 0])
    expect(truncated).toEqual([{ stream: 'stdout', fault: expect.stringContaining('ENOENT') }])
  })

  it('the system takes no more of it: the file is gone, and the command knows nothing of it', async () => {
    const { shell } = await shellHost()
    // The limit on the size of a file stands in for that of the disk: the write fails in the middle, as on a full one.
    const { stdout } = await shell.run({ command: `ulimit -f 32; exec ${programLine('spills.ts')}`, timeoutMs: 60_000 })
    const { result, files } = JSON.parse(stdout) as { result: ShellResult; files: string[] }
    expect(result).toMatchObject({ exitCode: 0, truncated: [{ stream: 'stdout', fault: expect.stringContaining('EFBIG') }] })
    expect([result.stdout.length, files]).toEqual([10, []])
  })

  it('of 50 MB is whole in its file', async () => {
    const { shell } = await shellHost()
    const lines = 50_000_000 / 10
    const { stdout, truncated, exitCode } = await shell.run({ command: `yes 'abcdefghi' | head -n ${lines}` })
    expect(exitCode).toBe(0)
    expect(stdout).toBe('abcdefghi\n'.repeat(6400))
    expect(hashOf(readFileSync(truncated[0]?.file ?? ''))).toBe(hashOf('abcdefghi\n'.repeat(lines)))
  })

  it('of 50 MB holds little memory', async () => {
    const { shell } = await shellHost()
    const before = heldMemory()
    const process = shell.start({ command: 'yes | head -c 25000000; yes no | head -c 25000000 >&2' })
    await process.done
    // A buffer's memory may be given back a moment after the buffer was collected.
    await until(() => heldMemory() - before < 2_000_000, 'no more than 2 MB are held')
    expect(process.readOutput().end).toBe(50_000_000)
  })
})

/** Bytes in buffers, after what is not needed has been collected. */
function heldMemory(): number {
  setFlagsFromString('--expose-gc')
  ;(runInNewContext('gc') as () => void)()
  return process.memoryUsage().arrayBuffers
}

describe('characters', () => {
  it('that arrive in pieces stay whole, between two reads too', async () => {
    const { shell } = await shellHost()
    const folder = mkdtempSync(join(tmpdir(), 'loopguard-shell-test-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const wait = (name: string): string => `until [ -e ${folder}/${name} ]; do sleep 0.01; done`
    const open = (name: string): Promise<unknown> => shell.run({ command: `touch ${folder}/${name}` })
    const command = `printf 'a\\xe2\\x82'; ${wait('1')}; printf '\\xac|\\xf0\\x9f'; ${wait('2')}; printf '\\x98\\x80|\\xe2'`
    const process = shell.start({ command })
    let first = ''
    await until(() => (first += process.readOutput().text) !== '', 'the first piece came')
    await open('1')
    let second = ''
    await until(() => (second += process.readOutput().text).length >= 2, 'the second piece came')
    await open('2')
    await process.done
    expect([first, second, process.readOutput().text, process.readOutput().text]).toEqual(['a', '€|', '😀|\ufffd', ''])
  })

  it('are not cut in half where the kept end begins', async () => {
    const { shell } = await shellHost({ maxOutputBytes: 10 })
    expect((await shell.run({ command: `printf '€%.0s' {1..50}` })).stdout).toBe('€€€')
    expect((await shell.run({ command: `printf '😀%.0s' {1..50}` })).stdout).toBe('😀😀')
  })

  it('of one stream are not torn by the other', async () => {
    const { shell } = await shellHost()
    const process = shell.start({
      command: `for i in {1..200}; do printf '\\xe2'; printf '\\xc3' >&2; printf '\\x82\\xac'; printf '\\xa4' >&2; done`,
    })
    await process.done
    expect(Array.from(process.readOutput().text).toSorted().join('')).toBe('ä'.repeat(200) + '€'.repeat(200))
  })

  it('that are no UTF-8 become replacement characters', async () => {
    const { shell } = await shellHost()
    expect((await shell.run({ command: `printf 'a\\xff\\x80b'` })).stdout).toBe('a\ufffd\ufffdb')
  })
})

describe('a command in the background', () => {
  it('gives each piece once, both streams in the order of arrival, and tells how it ended', async () => {
    const { shell } = await shellHost()
    const process = shell.start({ command: 'echo one; sleep 0.2; echo two >&2; sleep 0.2; echo three; exit 4' })
    expect([process.status, process.exitCode, process.signal]).toEqual(['running', null, null])
    let text = ''
    for (let reads = 0; process.status === 'running'; reads++) {
      text += process.readOutput().text
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    expect(text + process.readOutput().text).toBe('one\ntwo\nthree\n')
    expect(await process.done).toEqual({ exitCode: 4, signal: null, killed: false })
    expect([process.status, process.exitCode, process.readOutput()]).toEqual(['exited', 4, { text: '', end: 14 }])
    expect(process.readOutput(4).text).toBe('two\nthree\n')
  })

  it('has no timeout, and its signal has no hold on it', async () => {
    const { shell } = await shellHost()
    const process = shell.start({ command: 'sleep 0.4; echo late', timeoutMs: 50, signal: AbortSignal.timeout(50) })
    expect(await process.done).toEqual({ exitCode: 0, signal: null, killed: false })
    expect(process.readOutput().text).toBe('late\n')
  })

  it('lasts as long as its group', async () => {
    const { shell } = await shellHost()
    const process = shell.start({ command: '(sleep 0.4; echo late >&2) & (sleep 0.6; true) >/dev/null 2>&1 & echo early' })
    expect(await process.done).toEqual({ exitCode: 0, signal: null, killed: false })
    expect(process.readOutput().text).toBe('early\nlate\n')
  })

  it('that is killed is stopping until its group is gone', async () => {
    const { shell } = await shellHost()
    const process = shell.start({ command: `trap '' TERM; echo up; sleep 30` })
    await until(() => process.readOutput(0).text === 'up\n', 'it runs')
    process.kill()
    process.kill()
    expect(process.status).toBe('stopping')
    expect(await process.done).toEqual({ exitCode: null, signal: 'SIGKILL', killed: true })
    process.kill()
    expect([process.status, process.signal]).toEqual(['exited', 'SIGKILL'])
  })

  it('of which nothing but the rest of its group runs can still be killed', async () => {
    const ctx = await shellHost()
    const started = spawned(ctx)
    const process = ctx.shell.start({ command: `${longSleep()} >/dev/null 2>&1 & true` })
    const pid = await started
    await until(() => isGone(pid), 'the leader is gone')
    process.kill()
    expect(await process.done).toEqual({ exitCode: 0, signal: null, killed: true })
  })

  it('that prints more than it is read gives the end, and names the file', async () => {
    const { shell } = await shellHost({ maxOutputBytes: 10 })
    const process = shell.start({ command: 'seq 1 100' })
    await process.done
    const slice = process.readOutput()
    expect(slice).toEqual({ text: '98\n99\n100\n', end: 292, truncated: { stream: 'output', file: expect.any(String) } })
    expect(readFileSync(slice.truncated?.file ?? '', 'utf8')).toHaveLength(292)
    expect(process.readOutput(288)).toEqual({ text: '100\n', end: 292 })
  })
})
