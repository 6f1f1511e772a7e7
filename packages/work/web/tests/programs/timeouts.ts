// Run with --expose-gc: `timeouts.ts [count]` lets that many calls of web_fetch run into their budget, against a server that never
// answers, under one signal that outlives them, and prints as JSON what they leave behind.
import { getEventListeners, once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { memoryUsage } from 'node:process'
import { setImmediate as tick } from 'node:timers/promises'
import { Context } from '@deepseek-ai/cordis'
import * as timeoutPolicy from '@loopguard/timeout-policy'
import ToolRuntime, { type ToolExecutionInput } from '@loopguard/tools'
import WebRuntime from '@loopguard/web'
import * as httpFetch from '@loopguard/web/http-fetch'
import * as webTools from '@loopguard/web/tools'

const count = Number(process.argv[2] ?? 10_000)
const BATCH = 100
const warnings: string[] = []
process.on('warning', (warning) => warnings.push(warning.name))

/** Accepts, reads, and says nothing, or one byte of a page. */
let opened = 0
let closed = 0
const server: Server = createServer((request, response) => {
  if (request.url === '/begun') response.write('<')
}).listen(0, '127.0.0.1')
server.on('connection', (socket) => {
  opened++
  socket.on('error', () => {}).on('close', () => closed++)
})
await once(server, 'listening')
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

const ctx = new Context()
await ctx.plugin(ToolRuntime)
await ctx.plugin(timeoutPolicy)
await ctx.plugin(WebRuntime)
await ctx.plugin(webTools, { fetchTimeoutMs: 200 })
await ctx.plugin(httpFetch, { allowPrivateNetwork: true })
const { tools } = ctx
const { signal } = new AbortController()

const outcomes: Record<string, number> = {}
async function timeouts(calls: number): Promise<void> {
  for (let done = 0; done < calls; done += BATCH) {
    await Promise.all(
      Array.from({ length: BATCH }, async (_, index) => {
        const url = `${origin}/${index % 2 === 0 ? 'silent' : 'begun'}`
        const result = await tools.execute({ callId: 'call-1', name: 'web_fetch', arguments: { url }, signal } as ToolExecutionInput)
        const outcome = result.isError ? (result.error.info?.code ?? result.error.message) : 'success'
        outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
      }),
    )
  }
}

async function heap(): Promise<number> {
  for (let i = 0; i < 6; i++) {
    await tick()
    globalThis.gc?.()
  }
  return memoryUsage().heapUsed
}

await timeouts(500)
const before = await heap()
await timeouts(count)
const after = await heap()
while (closed < opened) await tick()
server.close()
await once(server, 'close')
await ctx.fiber.dispose()
await tick()

const handles = process.getActiveResourcesInfo().filter((name) => !/^(?:Pipe|TTY|FSReq|File|MessagePort)/.test(name))
process.stdout.write(
  JSON.stringify({
    outcomes,
    heapPerCall: Math.round((after - before) / count),
    listeners: getEventListeners(signal, 'abort').length,
    opened,
    closed,
    handles,
    warnings,
  }),
)
