import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Context } from '@deepseek-ai/cordis'
import { CallId } from '@loopguard/llm'
import * as timeoutPolicy from '@loopguard/timeout-policy'
import ToolRuntime, { type ToolExecutionResult } from '@loopguard/tools'
import WebRuntime from '@loopguard/web'
import * as httpFetch from '@loopguard/web/http-fetch'
import * as webTools from '@loopguard/web/tools'

const ctx = new Context()
await ctx.plugin(ToolRuntime)
await ctx.plugin(timeoutPolicy)
await ctx.plugin(WebRuntime)
await ctx.plugin(httpFetch, { allowPrivateNetwork: true }) // for the page below; leave it out for the internet
await ctx.plugin(webTools, { fetchTimeoutMs: 1_000 })

const server = createServer((request, response) => {
  // There is a page at /, and a page at /slow that never comes.
  if (request.url === '/') response.setHeader('content-type', 'text/plain').end('Hello from here.')
}).listen(0, '127.0.0.1')
await once(server, 'listening')

const fetchPage = (url: string): Promise<ToolExecutionResult> =>
  ctx.tools.execute({ callId: CallId('call-1'), name: 'web_fetch', arguments: { url }, signal: new AbortController().signal })

export const results: ToolExecutionResult[] = []
for (const path of ['', 'slow']) results.push(await fetchPage(`http://127.0.0.1:${(server.address() as AddressInfo).port}/${path}`))
server.close()
