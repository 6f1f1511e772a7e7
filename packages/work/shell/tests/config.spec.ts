import { Context } from '@deepseek-ai/cordis'
import Shell from '@loopguard/shell'
import * as bash from '@loopguard/shell/bash'
import { expect, it, onTestFinished } from 'vitest'
import { bashHost, shellHost } from './support.ts'

async function refusal(plugin: object, config: unknown): Promise<string> {
  const ctx = new Context()
  onTestFinished(() => ctx.fiber.dispose())
  try {
    await ctx.plugin(plugin as never, config as never)
  } catch (error) {
    return (error as Error).message
  }
  return 'not refused'
}

it('has the defaults that the README names', async () => {
  const { shell } = await shellHost({ graceMs: 3000 })
  expect(shell.limits).toEqual({
    timeoutMs: 120_000,
    maxTimeoutMs: 600_000,
    maxOutputBytes: 64_000,
    maxSpillBytes: 67_108_864,
    graceMs: 3000,
    env: [],
  })
  expect(Object.isFrozen(shell.limits)).toBe(true)
})

it.each([
  [{ timeoutMs: 0 }, 'timeoutMs'],
  [{ timeoutMs: '5' }, 'timeoutMs'],
  [{ timeoutMs: 1.5 }, 'timeoutMs'],
  [{ maxTimeoutMs: 2_147_483_648 }, 'maxTimeoutMs'],
  [{ maxOutputBytes: 0 }, 'maxOutputBytes'],
  [{ maxSpillBytes: -1 }, 'maxSpillBytes'],
  [{ graceMs: 0 }, 'graceMs'],
  [{ cwd: 5 }, 'cwd'],
  [{ env: 'PATH' }, 'env'],
  [{ env: [5] }, 'env'],
  [{ graceMs: null }, 'shell: `graceMs` is null; leave it out to get its default'],
  [{ graseMs: 5 }, 'shell: unknown key `graseMs`, did you mean `graceMs`?'],
  [[], 'shell: the configuration must be a map, got []'],
])('refuses %j and names the key', async (config, words) => {
  expect(await refusal(Shell, config)).toContain(words)
})

it('bash takes no configuration', async () => {
  const { ctx } = await bashHost()
  await expect(Promise.resolve(ctx.plugin(bash, { timeoutMs: 5 } as never))).rejects.toThrow(
    'bash: unknown key `timeoutMs`, it takes no configuration',
  )
})
