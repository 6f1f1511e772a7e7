import { Context } from '@deepseek-ai/cordis'
import ToolRuntime from '@loopguard/tools'
import * as timeoutPolicy from '@loopguard/timeout-policy'
import { describe, expect, it } from 'vitest'

async function mount(config: unknown): Promise<void> {
  const ctx = new Context()
  await ctx.plugin(ToolRuntime)
  await ctx.plugin(timeoutPolicy, config as undefined)
}

describe('the policy takes no config', () => {
  it.each([undefined, null, {}, Object.create(null) as object])('%o is none', async (config) => {
    await expect(mount(config)).resolves.toBeUndefined()
  })

  it('a key is refused by name, each with the reason', async () => {
    const refusal = 'timeout-policy takes no config, a tool declares its own `timeoutMs`: unknown key'
    await expect(mount({ defaultMs: 250, maxMs: undefined })).rejects.toThrow(
      `invalid config:\n  - ${refusal} "defaultMs"\n  - ${refusal} "maxMs"`,
    )
  })

  it.each([
    [250, '250'],
    [0, '0'],
    [false, 'false'],
    ['', ''],
    ['30s', '30s'],
    [[], '[object Array]'],
    [['slow'], '[object Array]'],
    [new Date(0), '[object Date]'],
    [new Map(), '[object Map]'],
  ])('%o is refused', async (config, shown) => {
    await expect(mount(config)).rejects.toThrow(
      `invalid config:\n  - timeout-policy takes no config, a tool declares its own \`timeoutMs\`: got ${shown}`,
    )
  })

  it('a row that was refused bounds nothing', async () => {
    const ctx = new Context()
    await ctx.plugin(ToolRuntime)
    await expect(ctx.plugin(timeoutPolicy, { defaultMs: 250 } as never)).rejects.toThrow('defaultMs')
    const { signal } = new AbortController()
    const seen: AbortSignal[] = []
    const execute = (_args: unknown, exec: { signal: AbortSignal }) => {
      seen.push(exec.signal)
      return 'done'
    }
    ctx.tools.register({ name: 'quick', description: '', parameters: {}, timeoutMs: 50, execute })
    await ctx.tools.execute({ callId: 'call-1' as never, name: 'quick', arguments: {}, signal })
    expect(seen[0]).toBe(signal)
  })
})
