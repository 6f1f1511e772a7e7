import { getEventListeners } from 'node:events'
import { gate } from '@loopguard/testkit'
import { describe, expect, it } from 'vitest'
import { Host } from './support.ts'

describe('ten thousand calls leave nothing on the signal of the caller', () => {
  const ways: [string, (host: Host) => void][] = [
    ['plain', () => {}],
    [
      'with a signal of a wrapper',
      ({ ctx }) => void ctx.on('tools/execute', (exec, next) => ((exec.signal = new AbortController().signal), next())),
    ],
    [
      'with approval',
      ({ ctx }) => {
        ctx.provide('approval', { request: async () => 'allowed-once' })
        ctx.on('tools/pre-execute', async () => ({ kind: 'ask' }))
      },
    ],
    ['with a body that throws', (host) => void (host.body = () => Promise.reject(new Error('no')))],
  ]
  it.each(ways)(
    '%s',
    async (_name, arrange) => {
      const caller = new AbortController()
      const host = await Host.start()
      arrange(host)
      const agent = await host.agent('a')
      for (let call = 0; call < 10_000; call++) await host.call({ signal: caller.signal, agent })
      expect(getEventListeners(caller.signal, 'abort')).toEqual([])
    },
    120_000,
  )

  it('and two thousand at once raise no warning', async () => {
    const warnings: Error[] = []
    const listen = (warning: Error): void => void warnings.push(warning)
    process.on('warning', listen)
    const caller = new AbortController()
    const release = gate()
    const host = await Host.start(async () => (await release.opened, 'done'))
    host.ctx.on('tools/execute', (exec, next) => ((exec.signal = new AbortController().signal), next()))
    const running = Array.from({ length: 2_000 }, () => host.call({ signal: caller.signal }))
    await new Promise(setImmediate)
    expect(getEventListeners(caller.signal, 'abort')).toHaveLength(1)
    release.open()
    await Promise.all(running)
    await new Promise(setImmediate)
    process.off('warning', listen)
    expect(warnings).toEqual([])
    expect(getEventListeners(caller.signal, 'abort')).toEqual([])
  }, 60_000)
})
