import diagnostics from 'node:diagnostics_channel'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Context } from '@deepseek-ai/cordis'
import { CallId } from '@loopguard/llm'
import { mountInvariants } from '@loopguard/testkit'
import * as timeoutPolicy from '@loopguard/timeout-policy'
import ToolRuntime, { type ToolExecutionResult } from '@loopguard/tools'
import WebRuntime, { type Config } from '@loopguard/web'
import * as httpFetchPlugin from '@loopguard/web/http-fetch'
import * as webInvariant from '@loopguard/web/invariant'
import * as webTools from '@loopguard/web/tools'
import { onTestFinished } from 'vitest'

export interface Site {
  /** `http://127.0.0.1:<port>` */
  readonly origin: string
  readonly port: number
  readonly requests: IncomingMessage[]
  readonly server: Server
  /** Settles when `count` connections have been opened and closed again. */
  readonly closed: (count?: number) => Promise<void>
}

/** A server on a loopback address, gone after the test with all its connections. */
export async function site(listener: RequestListener, address = '127.0.0.1'): Promise<Site> {
  const requests: IncomingMessage[] = []
  let gone = 0
  let onClose = (): void => {}
  const server = createServer((request, response) => {
    requests.push(request)
    listener(request, response)
  })
  server.on('connection', (socket) =>
    socket.on('close', () => {
      gone++
      onClose()
    }),
  )
  server.listen(0, address)
  await once(server, 'listening')
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://${address}:${port}`,
    port,
    requests,
    server,
    closed: async (count = 1) => {
      while (gone < count) await new Promise<void>((resolve) => (onClose = resolve))
    },
  }
}

/** A server that answers every request with this. */
export function page(
  body: string | Buffer,
  headers: Record<string, string> = { 'content-type': 'text/plain' },
  status = 200,
): Promise<Site> {
  return site((_request, response) => response.writeHead(status, headers).end(body))
}

export interface WebHost {
  readonly ctx: Context
  readonly call: (name: string, args: object, signal?: AbortSignal) => Promise<ToolExecutionResult>
  /** The text of the result of `web_fetch`. */
  readonly read: (url: string, signal?: AbortSignal) => Promise<string>
}

export interface HostOptions {
  readonly web?: Config
  readonly tools?: Partial<webTools.Config>
  /** `false`: no provider of ours. Default: one that may go to loopback. */
  readonly fetch?: Partial<httpFetchPlugin.Config> | false
}

/** The real pipeline with timeout-policy, the service and the tools; the companions watch. */
export async function host({ web = {}, tools = {}, fetch = { allowPrivateNetwork: true } }: HostOptions = {}): Promise<WebHost> {
  const ctx = new Context()
  await ctx.plugin(ToolRuntime)
  const watch = await mountInvariants(ctx)
  await ctx.plugin(webInvariant)
  onTestFinished(async () => {
    await ctx.fiber.dispose()
    watch.assertNone()
  })
  await ctx.plugin(timeoutPolicy)
  await ctx.plugin(WebRuntime, web)
  await ctx.plugin(webTools, tools)
  if (fetch !== false) await ctx.plugin(httpFetchPlugin, fetch)
  let calls = 0
  const call: WebHost['call'] = (name, args, signal = new AbortController().signal) =>
    ctx.tools.execute({ callId: CallId(`call-${++calls}`), name, arguments: args, signal })
  return { ctx, call, read: async (url, signal) => said(await call('web_fetch', { url }, signal)) }
}

/** What the model reads of a result. */
export function said({ content }: ToolExecutionResult): string {
  return content.map((block) => (block.type === 'text' ? block.text : block.type)).join('\n')
}

export const codeOf = (result: ToolExecutionResult): string | undefined => (result.isError ? result.error.info?.code : 'success')

/** The code and the message of what a promise rejects with. */
export async function failureOf(promise: Promise<unknown>): Promise<{ readonly code: string; readonly message: string }> {
  try {
    await promise
  } catch (thrown) {
    const { code, message } = thrown as { code: string; message: string }
    return { code, message }
  }
  throw new Error('it did not fail')
}

/** Counts the sockets that this process opens as a client, while `work` runs. */
export async function connects(work: () => Promise<unknown>): Promise<number> {
  let count = 0
  const note = (): void => void count++
  diagnostics.subscribe('net.client.socket', note)
  try {
    await work()
  } finally {
    diagnostics.unsubscribe('net.client.socket', note)
  }
  return count
}
