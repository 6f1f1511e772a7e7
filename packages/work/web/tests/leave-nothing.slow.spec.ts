import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { host, page } from './host.ts'
import { timedOut } from './timed-out.ts'

it('1,000 timeouts under one signal leave no heap, listener, socket, handle or warning, and no proxy is asked', async () => {
  const sources = process.env['LOOPGUARD_TEST_MODE'] === 'lib' ? [] : ['--conditions=@loopguard/source']
  const program = fileURLToPath(new URL('programs/timeouts.ts', import.meta.url))
  // A proxy that is not there: who asked it would fail, and not time out.
  const env = { ...process.env, NODE_USE_ENV_PROXY: '1', HTTP_PROXY: 'http://127.0.0.1:1', http_proxy: 'http://127.0.0.1:1', NO_PROXY: '' }
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', ...sources, '--import', 'tsx', program, '1000'], { env })
  const { heapPerCall, opened, closed, ...left } = JSON.parse(stdout) as { heapPerCall: number; opened: number; closed: number }
  expect(left).toEqual({ outcomes: { TOOL_TIMEOUT: 1_500 }, listeners: 0, handles: [], warnings: [] })
  // Long enough a budget that most calls get as far as a socket.
  expect(opened).toBeGreaterThan(750)
  expect(closed).toBe(opened)
  expect(heapPerCall).toBeLessThan(500)
}, 120_000)

// The worst input that was found: the parser looks at all attributes of a tag for each of them. Without a deadline it takes minutes.
it('a page that the converter needs minutes for ends with its budget', async () => {
  const attributes = Array.from({ length: 120_000 }, (_, index) => `a${index}=`).join(' ')
  const { origin, closed } = await page(`<div ${attributes}>x`, { 'content-type': 'text/html' })
  const { call } = await host({ tools: { fetchTimeoutMs: 1_500 } })
  const start = performance.now()
  expect(await call('web_fetch', { url: origin })).toEqual(timedOut(1_500))
  expect(performance.now() - start).toBeLessThan(20_000)
  await closed()
})
