import { setTimeout as sleep } from 'node:timers/promises'
import { says } from '@loopguard/testkit/model-server'
import { expect, it, vi } from 'vitest'
import { listeners, stage } from './stage.ts'

const IDLE_MS = 700
let loaded = 0

vi.mock('@ai-sdk/openai-compatible', async (importOriginal) => {
  loaded++
  await sleep(IDLE_MS * 2)
  return importOriginal<object>()
})

it('a package is loaded with its first request, once, and the time that this takes is no silence', async () => {
  const { ask, server } = await stage({ entries: [says({ text: 'one' })], config: { idleTimeoutMs: IDLE_MS } })
  expect(loaded).toBe(0)
  const cancel = new AbortController()
  const cancelled = ask({ signal: cancel.signal })
  cancel.abort()
  expect((await Promise.all([ask(), ask()])).map(({ text }) => text)).toEqual(['one', 'one'])
  expect((await cancelled).finish.kind).toBe('aborted')
  expect(listeners(cancel.signal)).toBe(0)
  expect(loaded).toBe(1)
  // A request that was cancelled meanwhile is not sent.
  expect(server.requests).toHaveLength(2)
})
