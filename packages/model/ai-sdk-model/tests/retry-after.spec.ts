import { answers } from '@loopguard/testkit/model-server'
import { expect, it, vi } from 'vitest'
import { stage } from './stage.ts'

const NOW = Date.parse('2026-12-01T12:00:00Z')

it.each<[Record<string, string>, number | undefined]>([
  [{ 'retry-after': '3' }, 3000],
  [{ 'retry-after': '0.5' }, 500],
  [{ 'retry-after': 'Tue, 01 Dec 2026 12:00:20 GMT' }, 20_000],
  [{ 'retry-after-ms': '125' }, 125],
  [{ 'retry-after-ms': '125', 'retry-after': '9' }, 125],
  [{ 'retry-after-ms': 'soon', 'retry-after': '9' }, 9000],
  [{ 'retry-after': 'Tue, 01 Dec 2026 11:00:00 GMT' }, undefined],
  [{ 'retry-after': '0' }, undefined],
  [{ 'retry-after': '-5' }, undefined],
  [{ 'retry-after': 'Infinity' }, undefined],
  [{ 'retry-after': 'soon' }, undefined],
  [{ 'retry-after': '' }, undefined],
  [{}, undefined],
])('%j asks for a wait of %j ms', async (headers, expected) => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW })
  try {
    const { ask } = await stage({ entries: [answers(429, 'slow', headers)] })
    const { failure } = await ask()
    expect('retryAfterMs' in failure ? failure.retryAfterMs : undefined).toBe(expected)
    expect('retryAfterMs' in failure).toBe(expected !== undefined)
  } finally {
    vi.useRealTimers()
  }
})
