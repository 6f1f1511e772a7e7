import type { Context } from '@deepseek-ai/cordis'
import { captureErrors } from '@loopguard/testkit'
import type { ToolExecution, ToolExecutionResult } from '@loopguard/tools'
import { describe, expect, it } from 'vitest'
import { bogus, Host, said, unfrozen } from './support.ts'

describe('an observer of tools/result', () => {
  it('that fails, sooner or later, starves no other and does not touch the call', async () => {
    const host = await Host.start()
    const heard: string[] = []
    host.ctx.on('tools/result', () => {
      throw new Error('sync')
    })
    host.ctx.on(
      'tools/result',
      bogus(() => Promise.reject(new Error('async'))),
    )
    host.ctx.on(
      'tools/result',
      bogus(() => ({
        // oxlint-disable-next-line unicorn/no-thenable
        get then() {
          throw new Error('then')
        },
      })),
    )
    host.ctx.on('tools/result', () => void heard.push('last'))
    expect(said(await host.call())).toBe('done')
    expect(heard).toEqual(['last'])
  })

  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('no disk')
      },
    ],
    ['rejects', () => Promise.reject(new Error('no disk'))],
  ])('that %s is logged at error level, with the event and the plugin', async (_name, listener) => {
    const host = await Host.start()
    const errors = captureErrors(host.ctx)
    await host.ctx.plugin({ name: 'metrics', apply: (ctx: Context) => void ctx.on('tools/result', bogus(listener)) })
    await host.call()
    await new Promise(setImmediate)
    expect(errors).toHaveLength(1)
    expect(errors[0]?.text).toContain('tools/result')
    expect(errors[0]?.text).toContain('metrics')
    expect(errors[0]?.text).toContain('no disk')
  })

  it('is not waited for', async () => {
    const host = await Host.start()
    host.ctx.on(
      'tools/result',
      bogus(() => new Promise(() => {})),
    )
    expect(said(await host.call())).toBe('done')
  })

  it('sees the very result that the caller gets, frozen', async () => {
    const host = await Host.start()
    const seen: [ToolExecution, ToolExecutionResult][] = []
    host.ctx.on('tools/result', (exec, result) => void seen.push([exec, result]))
    const result = await host.call()
    expect(seen).toHaveLength(1)
    expect(seen[0]?.[1]).toBe(result)
    expect(unfrozen(result)).toEqual([])
  })

  it('cannot change the result', async () => {
    const host = await Host.start()
    const errors = captureErrors(host.ctx)
    host.ctx.on('tools/result', (_exec, result) => {
      ;(result.content as unknown[]).push('more')
    })
    host.ctx.on('tools/result', (_exec, result) => {
      ;(result.content[0] as { text: string }).text = 'other'
    })
    expect(await host.call()).toEqual({ isError: false, content: [{ type: 'text', text: 'done' }] })
    expect(errors).toHaveLength(2)
  })
})

it('ten calls whose wrapper throws, and ten whose pre-execute throws, each reach post-execute', async () => {
  for (const event of ['tools/execute', 'tools/pre-execute'] as const) {
    const host = await Host.start()
    let counted = 0
    host.ctx.on('tools/post-execute', (_exec, _result, next) => (counted++, next()))
    host.ctx.on(event, () => Promise.reject(new Error('broken')))
    for (let call = 0; call < 10; call++) await host.call()
    expect(counted).toBe(10)
  }
})
