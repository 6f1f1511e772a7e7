import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Context } from '@deepseek-ai/cordis'
import Shell from '@loopguard/shell'
import * as shellInvariant from '@loopguard/shell/invariant'
import { type InvariantWatch, mountInvariants } from '@loopguard/testkit'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { longSleep, pidsOf, running, until } from './support.ts'

async function watched(): Promise<{ ctx: Context; watch: InvariantWatch }> {
  const ctx = new Context()
  onTestFinished(() => ctx.fiber.dispose())
  const watch = await mountInvariants(ctx)
  await ctx.plugin(Shell, { graceMs: 200 })
  await ctx.plugin(shellInvariant)
  return { ctx, watch }
}

describe('nothing of a process group runs when its command has ended', () => {
  it('trips when the system does not kill what a command has left', async () => {
    const { ctx, watch } = await watched()
    const sleep = longSleep()
    const kill = vi.spyOn(process, 'kill').mockReturnValue(true)
    await ctx.shell.run({ command: `${sleep} >/dev/null 2>&1 & true` })
    kill.mockRestore()
    await until(() => running(sleep) === 1, 'it was left')
    const [pid] = pidsOf(sleep)
    process.kill(pid as number, 'SIGKILL')
    watch.assertBroken('@loopguard/shell', `process ${pid} of it still runs`)
    expect(watch.violations).toHaveLength(1)
  })

  it('says nothing of a group of somebody else', async () => {
    const { ctx, watch } = await watched()
    const child = spawn('sleep', [longSleep().slice(6)], { detached: true, stdio: 'ignore' })
    await ctx.shell.run({ command: 'true' })
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(watch.violations).toEqual([])
  })

  it('trips when a group is started while its last command runs', async () => {
    const { ctx, watch } = await watched()
    ctx.emit('shell/spawn', { pid: 2_000_000_000 })
    ctx.emit('shell/spawn', { pid: 2_000_000_000 })
    watch.assertBroken('@loopguard/shell', 'process group 2000000000 was started while its last command runs')
    expect(watch.violations).toHaveLength(1)
  })
})
